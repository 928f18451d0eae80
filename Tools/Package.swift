// swift-tools-version: 6.2
import PackageDescription

/// The same strict settings as in the library's targets; a warning is an error.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .treatAllWarnings(as: .error),
]

let apus = Target.Dependency.product(name: "Apus", package: "apus")
let apusCredentials = Target.Dependency.product(name: "ApusCredentials", package: "apus")
let apusAWS = Target.Dependency.product(name: "ApusAWS", package: "apus")
let apusNIO = Target.Dependency.product(name: "ApusNIO", package: "apus")
let apusOAuth = Target.Dependency.product(name: "ApusOAuth", package: "apus")
let apusTransfers = Target.Dependency.product(name: "ApusTransfers", package: "apus")
let apusURLSession = Target.Dependency.product(name: "ApusURLSession", package: "apus")
let apusTestServer = Target.Dependency.product(name: "ApusTestServer", package: "apus")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")

let package = Package(
  name: "apus-tools",
  platforms: [.macOS(.v15)],
  products: [
    // The target has another name: `Apus` and `apus` would collide on case-insensitive file systems.
    .executable(name: "apus", targets: ["ApusCommand"])
  ],
  dependencies: [
    .package(name: "apus", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    .target(
      name: "ApusTool",
      dependencies: [
        apus, apusAWS, apusCredentials, apusNIO, apusOAuth, apusTransfers, apusURLSession, argumentParser, httpTypes,
      ],
      swiftSettings: settings),
    .executableTarget(name: "ApusCommand", dependencies: ["ApusTool", argumentParser], swiftSettings: settings),
    .testTarget(
      name: "ApusToolTests",
      dependencies: [
        "ApusTool", apus, apusAWS, apusCredentials, apusNIO, apusOAuth, apusTransfers, apusURLSession, argumentParser,
        httpTypes,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ApusCommandTests", dependencies: ["ApusCommand", "ApusTool", apusTestServer, crypto, httpTypes],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
