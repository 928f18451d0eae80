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
let apusAWS = Target.Dependency.product(name: "ApusAWS", package: "apus")
let apusCredentials = Target.Dependency.product(name: "ApusCredentials", package: "apus")
let apusOAuth = Target.Dependency.product(name: "ApusOAuth", package: "apus")
let apusTransfers = Target.Dependency.product(name: "ApusTransfers", package: "apus")
let apusTesting = Target.Dependency.product(name: "ApusTesting", package: "apus")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")

let package = Package(
  name: "apus-examples",
  platforms: [.macOS(.v15)],
  products: [
    // The target has another name: `Backend` and `backend` would collide on case-insensitive file systems.
    .executable(name: "backend", targets: ["BackendCommand"]),
    .executable(name: "demo", targets: ["DemoCommand"]),
  ],
  dependencies: [
    .package(name: "apus", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
  ],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(
      name: "Backend",
      dependencies: [
        "CSQLite", httpTypes, logging, nioCore, nioPosix, nioHTTP1, crypto, cryptoExtras,
      ],
      exclude: ["Resources/README.md"],
      resources: [.copy("Resources/films.tsv")],
      swiftSettings: settings),
    .executableTarget(
      name: "BackendCommand",
      dependencies: ["Backend", argumentParser], swiftSettings: settings),
    .target(name: "FriendsService", dependencies: [apus], swiftSettings: settings),
    .target(name: "MoviesService", dependencies: [apus, apusTransfers], swiftSettings: settings),
    .target(name: "AccountsService", dependencies: [apus], swiftSettings: settings),
    .target(name: "NewsService", dependencies: [apus], swiftSettings: settings),
    .target(name: "AnalyticsService", dependencies: [apus], swiftSettings: settings),
    // As in new app targets: isolated to the main actor by default.
    .target(
      name: "FriendsScreen", dependencies: [apus, "FriendsService"],
      swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
    .target(
      name: "MoviesScreen", dependencies: [apus, "MoviesService"],
      swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
    // A middleware and a transport, as authors outside of this repository write them.
    .target(name: "CallTracing", dependencies: [apus], swiftSettings: settings),
    .target(name: "InProcess", dependencies: [apus], swiftSettings: settings),
    .target(
      name: "Demo",
      dependencies: [
        apus, apusAWS, apusCredentials, apusOAuth, apusTransfers, logging, "Backend", "FriendsService",
        "MoviesService", "AccountsService", "NewsService", "AnalyticsService", "FriendsScreen", "MoviesScreen",
      ],
      swiftSettings: settings),
    .executableTarget(name: "DemoCommand", dependencies: [apus, "Demo", argumentParser], swiftSettings: settings),
    .testTarget(
      name: "ServicesTests",
      dependencies: [
        apus, apusCredentials, apusTransfers, apusTesting, logging, "Backend", "FriendsService", "MoviesService",
        "AccountsService",
        "NewsService", "AnalyticsService",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "FriendsScreenTests",
      dependencies: [apus, apusTesting, "FriendsScreen", "FriendsService"],
      swiftSettings: settings),
    .testTarget(
      name: "MoviesScreenTests",
      dependencies: [apus, apusTesting, "MoviesScreen", "MoviesService"],
      swiftSettings: settings),
    .testTarget(
      name: "ExtensionsTests", dependencies: [apus, apusTesting, "CallTracing", "InProcess"], swiftSettings: settings),
    .testTarget(
      name: "DemoTests",
      dependencies: [
        "Demo", "DemoCommand", "Backend", "AccountsService", apus, apusCredentials, apusOAuth, apusTesting,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BackendTests",
      dependencies: ["Backend", nioCore, nioPosix],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
