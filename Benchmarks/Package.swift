// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "apus", path: ".."),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    .target(name: "MallocCounter"),
    .executableTarget(
      name: "CallOverhead",
      dependencies: [
        "MallocCounter", .product(name: "Apus", package: "apus"), .product(name: "ApusTesting", package: "apus"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "Loopback",
      dependencies: [
        .product(name: "Apus", package: "apus"), .product(name: "ApusNIO", package: "apus"),
        .product(name: "ApusTestServer", package: "apus"), .product(name: "ApusURLSession", package: "apus"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
