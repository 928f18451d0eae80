// swift-tools-version: 6.2
import PackageDescription

/// The compiler settings of the library's targets; a warning is an error.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .treatAllWarnings(as: .error),
]

func nio(_ product: String, package: String = "swift-nio") -> Target.Dependency {
  .product(name: product, package: package)
}

// A separate package, so that users of the library do not fetch swift-nio-http2, with which the tests compare HTTP/2.
let package = Package(
  name: "apus-http2-oracles",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "apus", path: "../.."),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    // Older versions have known vulnerabilities.
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.44.1"),
  ],
  targets: [
    .testTarget(
      name: "OracleTests",
      dependencies: [
        .product(name: "ApusNIO", package: "apus"), .product(name: "ApusTesting", package: "apus"),
        .product(name: "HTTPTypes", package: "swift-http-types"), nio("NIOCore"), nio("NIOEmbedded"),
        nio("NIOHPACK", package: "swift-nio-http2"), nio("NIOHTTP2", package: "swift-nio-http2"),
      ],
      path: "OracleTests", swiftSettings: settings)
  ],
  swiftLanguageModes: [.v6]
)
