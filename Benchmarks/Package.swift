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
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.36.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.33.0"),
  ],
  targets: [
    .target(name: "MallocCounter"),
    .executableTarget(
      name: "CallOverhead",
      dependencies: [
        "MallocCounter", "Measuring",
        .product(name: "Apus", package: "apus"), .product(name: "ApusTesting", package: "apus"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .target(name: "Measuring", swiftSettings: settings),
    .executableTarget(
      name: "CallInstructions",
      dependencies: [
        "MallocCounter", "Uploading",
        .product(name: "Apus", package: "apus"), .product(name: "ApusNIO", package: "apus"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "JSON",
      dependencies: ["MallocCounter", "Measuring", "Samples", .product(name: "ApusJSON", package: "apus")],
      swiftSettings: settings),
    .target(
      name: "Samples", dependencies: [.product(name: "ApusJSON", package: "apus")], swiftSettings: settings),
    .executableTarget(
      name: "Queued",
      dependencies: [
        "MallocCounter", "Measuring",
        .product(name: "Apus", package: "apus"), .product(name: "ApusTesting", package: "apus"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "Resilience",
      dependencies: [
        .product(name: "Apus", package: "apus"), .product(name: "ApusTesting", package: "apus"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "Loopback",
      dependencies: [
        "Measuring", "Samples",
        .product(name: "Apus", package: "apus"), .product(name: "ApusNIO", package: "apus"),
        .product(name: "ApusTestServer", package: "apus"), .product(name: "ApusURLSession", package: "apus"),
      ],
      swiftSettings: settings),
    .target(
      name: "Uploading",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "S3Upload",
      dependencies: [
        "Measuring", "Uploading",
        .product(name: "Apus", package: "apus"), .product(name: "ApusAWS", package: "apus"),
        .product(name: "ApusNIO", package: "apus"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "Wire",
      dependencies: [
        "Measuring", "Samples", "Uploading", "WriteCounter",
        .product(name: "Apus", package: "apus"), .product(name: "ApusNIO", package: "apus"),
        .product(name: "ApusTransfers", package: "apus"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "Signing",
      dependencies: [
        "Measuring", .product(name: "ApusAWS", package: "apus"), .product(name: "ApusCore", package: "apus"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "Streams",
      dependencies: [
        "Measuring", .product(name: "Apus", package: "apus"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .target(name: "WriteCounter"),
  ],
  swiftLanguageModes: [.v6]
)
