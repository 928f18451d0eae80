// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// The settings of every Swift target: a warning is an error.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .treatAllWarnings(as: .error),
]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// A product of SwiftNIO, compiled only with the trait `NIO`.
func nio(_ product: String, package: String = "swift-nio") -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["NIO"]))
}

/// Compiled only with the trait `ServiceLifecycle`.
let serviceLifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"]))

/// A product of swift-syntax, compiled only with the trait `Macros`.
func syntax(_ product: String) -> Target.Dependency {
  .product(name: product, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}

let package = Package(
  name: "apus",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Apus", targets: ["Apus"]),
    .library(name: "ApusJSON", targets: ["ApusJSON"]),
    .library(name: "ApusMacros", targets: ["ApusMacros"]),
    .library(name: "ApusCore", targets: ["ApusCore"]),
    .library(name: "ApusCredentials", targets: ["ApusCredentials"]),
    .library(name: "ApusTransfers", targets: ["ApusTransfers"]),
    .library(name: "ApusAWS", targets: ["ApusAWS"]),
    .library(name: "ApusOAuth", targets: ["ApusOAuth"]),
    .library(name: "ApusURLSession", targets: ["ApusURLSession"]),
    .library(name: "ApusNIO", targets: ["ApusNIO"]),
    .library(name: "ApusTesting", targets: ["ApusTesting"]),
    .library(name: "ApusTestServer", targets: ["ApusTestServer"]),
  ],
  traits: [
    .trait(name: "NIO", description: "The SwiftNIO transport and the loopback test server."),
    .trait(name: "ServiceLifecycle", description: "The SwiftNIO transport as a service of swift-service-lifecycle."),
    .trait(name: "Macros", description: "`ApusMacros`: the macro `@JSONCodable`."),
    // At most one: SwiftPM passes enabled traits to the compiler in an order that differs from run to run, and compiles
    // everything again when it has changed.
    .default(enabledTraits: ["NIO"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.36.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
  ],
  targets: [
    .target(name: "ApusJSON", swiftSettings: settings),
    .macro(
      name: "ApusMacrosPlugin",
      dependencies: [
        syntax("SwiftSyntax"), syntax("SwiftSyntaxBuilder"), syntax("SwiftSyntaxMacros"), syntax("SwiftDiagnostics"),
        syntax("SwiftParser"), syntax("SwiftCompilerPlugin"),
      ],
      swiftSettings: settings),
    .target(
      name: "ApusMacros",
      dependencies: ["ApusJSON", .target(name: "ApusMacrosPlugin", condition: .when(traits: ["Macros"]))],
      swiftSettings: settings),
    .target(name: "ApusCore", dependencies: ["ApusJSON", httpTypes], swiftSettings: settings),
    .target(
      name: "ApusMiddleware", dependencies: ["ApusCore", "ApusFiles", httpTypes, logging], swiftSettings: settings),
    // Files, folders and locks of the system; no public declarations.
    .target(name: "ApusFiles", swiftSettings: settings),
    .target(
      name: "ApusCredentials",
      dependencies: [
        "ApusCore", "ApusFiles", "ApusMiddleware", httpTypes, crypto,
        .target(name: "CApusKeyring", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: settings),
    .systemLibrary(name: "CApusKeyring"),
    .target(
      name: "ApusTransfers",
      dependencies: [
        "ApusCore", "ApusFiles", "ApusMiddleware", httpTypes, crypto,
        "CApusZlib",
      ],
      swiftSettings: settings),
    .target(
      name: "ApusAWS",
      dependencies: [
        "ApusCore", "ApusMiddleware", "ApusTransfers", httpTypes, crypto,
        "CApusCRC",
      ],
      swiftSettings: settings),
    .target(name: "CApusCRC"),
    .target(
      name: "ApusOAuth",
      dependencies: [
        "ApusCore", "ApusJSON", "ApusMiddleware", httpTypes, crypto, cryptoExtras,
      ],
      swiftSettings: settings),
    .target(name: "ApusURLSession", dependencies: ["ApusCore", httpTypes], swiftSettings: settings),
    .systemLibrary(name: "CApusZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "ApusNIO",
      dependencies: [
        "ApusCore", httpTypes, "CApusZlib", nio("NIOCore"),
        nio("NIOPosix"), nio("NIOTLS"),
        nio("NIOSSL", package: "swift-nio-ssl"),
        serviceLifecycle,
      ],
      swiftSettings: settings),
    .target(
      name: "Apus",
      dependencies: [
        "ApusCore", "ApusMiddleware", httpTypes, logging,
        .target(name: "ApusNIO", condition: .when(platforms: [.linux], traits: ["NIO"])),
        .target(
          name: "ApusURLSession", condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])),
      ],
      swiftSettings: settings),
    // Shared by both test products, which re-export it: a gate, and the monitor on which it is based.
    .target(name: "ApusWaiting", swiftSettings: settings),
    .target(name: "ApusTesting", dependencies: ["ApusCore", "ApusWaiting", httpTypes], swiftSettings: settings),
    .target(
      name: "ApusTestServer",
      dependencies: [
        "ApusWaiting", httpTypes, nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"),
        nio("NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: settings),

    // The test server as the server of the transport conformance suite, for the tests of every transport.
    .target(
      name: "LoopbackConformance",
      dependencies: ["ApusCore", "ApusTesting", "ApusTestServer", "TestSupport", httpTypes],
      path: "Tests/LoopbackConformance", swiftSettings: settings),
    // Helpers that all test targets share.
    .target(
      name: "TestSupport", dependencies: ["ApusCore", "ApusTesting", httpTypes, logging], path: "Tests/TestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "ApusJSONTests", dependencies: ["ApusJSON", "ApusTesting", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "ApusCoreTests", dependencies: ["ApusCore", "ApusTesting", "TestSupport", httpTypes],
      swiftSettings: settings),
    // A separate process, for tests that kill it while it stores responses.
    .executableTarget(
      name: "CacheWorker", dependencies: ["ApusMiddleware", "ApusCore", httpTypes], path: "Tests/CacheWorker",
      swiftSettings: settings),
    .testTarget(
      name: "ApusMiddlewareTests",
      dependencies: [
        "ApusMiddleware", "ApusCore", "ApusFiles", "ApusTesting", "CacheWorker", "TestSupport", httpTypes, logging,
      ],
      swiftSettings: settings),
    // A separate process, for tests in which several processes share one store.
    .executableTarget(
      name: "CredentialsWorker",
      dependencies: ["ApusCredentials", "ApusMiddleware", "ApusCore", "Apus", "ApusNIO"],
      path: "Tests/CredentialsWorker", swiftSettings: settings),
    .testTarget(
      name: "ApusCredentialsTests",
      dependencies: [
        "ApusCredentials", "ApusFiles", "ApusMiddleware", "ApusCore", "Apus", "ApusNIO", "ApusTesting",
        "ApusTestServer", "LoopbackConformance", "CredentialsWorker", "TestSupport", httpTypes, logging, crypto,
      ],
      swiftSettings: settings),
    // A separate process, for tests that kill it during a transfer.
    .executableTarget(
      name: "TransfersWorker", dependencies: ["ApusAWS", "ApusTransfers", "ApusCore", "ApusMiddleware", "ApusNIO"],
      path: "Tests/TransfersWorker", swiftSettings: settings),
    .testTarget(
      name: "ApusTransfersTests",
      dependencies: [
        "ApusTransfers", "ApusAWS", "ApusCore", "ApusFiles", "ApusMiddleware", "ApusNIO", "ApusTesting",
        "ApusTestServer", "TestSupport", "TransfersWorker", httpTypes, crypto,
        "CApusZlib",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ApusAWSTests",
      dependencies: [
        "ApusAWS", "ApusCore", "ApusMiddleware", "ApusTesting", "ApusTransfers", "TestSupport", httpTypes, logging,
        crypto,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ApusOAuthTests",
      dependencies: [
        "ApusOAuth", "ApusMiddleware", "ApusCore", "ApusJSON", "Apus", "ApusNIO", "ApusTesting", "ApusTestServer",
        "TestSupport", httpTypes, crypto, cryptoExtras,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ApusURLSessionTests",
      dependencies: [
        "ApusURLSession", "ApusCore", "ApusTesting", "ApusTestServer", "LoopbackConformance", "TestSupport", httpTypes,
      ],
      swiftSettings: settings),
    // An HTTP/2 server in front of the test server. A test target, because it uses the codec of ApusNIO by `@testable`.
    .testTarget(
      name: "HTTP2Gateway",
      dependencies: [
        "ApusNIO", "ApusTesting", "ApusTestServer", "LoopbackConformance", httpTypes, nio("NIOCore"), nio("NIOPosix"),
        nio("NIOSSL", package: "swift-nio-ssl"),
      ],
      path: "Tests/HTTP2Gateway", swiftSettings: settings),
    .testTarget(
      name: "ApusNIOTests",
      dependencies: [
        "ApusNIO", "ApusCore", "ApusMiddleware", "ApusTesting", "ApusTestServer", "HTTP2Gateway", "LoopbackConformance",
        "TestSupport", httpTypes, "CApusZlib", nio("NIOCore"), nio("NIOPosix"),
        nio("NIOEmbedded"), nio("NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ApusTestingTests", dependencies: ["ApusTesting", "ApusCore", "TestSupport", httpTypes],
      swiftSettings: settings),
    .testTarget(
      name: "ApusTestServerTests", dependencies: ["ApusTestServer", "TestSupport", httpTypes], swiftSettings: settings),
    .testTarget(
      name: "ApusTests",
      dependencies: [
        "Apus", "ApusNIO", "ApusURLSession", "ApusTesting", "ApusTestServer", "HTTP2Gateway", "LoopbackConformance",
        "TestSupport", httpTypes, logging,
      ],
      swiftSettings: settings),
    // Compiled only with the trait ServiceLifecycle, which scripts/tsan turns on.
    .testTarget(
      name: "LifecycleTests",
      dependencies: ["Apus", "ApusNIO", "ApusTestServer", logging, serviceLifecycle], swiftSettings: settings),
    // Over nginx, varnish, squid, httpbin, docker-registry, datasette and two tus servers, which scripts/servers starts.
    .testTarget(
      name: "RealServerTests",
      dependencies: [
        "Apus", "ApusAWS", "ApusCredentials", "ApusMiddleware", "ApusNIO", "ApusOAuth", "ApusTesting",
        "ApusTestServer", "ApusTransfers", "ApusURLSession", "LoopbackConformance", "TestSupport",
        "TransfersWorker", "CApusZlib", httpTypes, crypto,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "Apus", "ApusAWS", "ApusCredentials", "ApusNIO", "ApusOAuth", "ApusTesting", "ApusTestServer",
        "ApusTransfers", "ApusWaiting", httpTypes,
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// The thread sanitizer needs a separate build. `races` compiles only the tests in which threads meet, `thread` all that it
// can run (scripts/tsan).
switch Context.environment["APUS_SANITIZER"] {
case "races":
  let folders = [
    "ApusCoreTests": ["Call"],
    "ApusMiddlewareTests": ["Authentication", "Cache", "Deadlines", "Scheduling", "Support"],
    "ApusNIOTests": [],
    "ApusTests": ["Backend", "Cache", "Pipeline/Meter.swift", "Resilience", "Soak", "Support"],
    "HTTP2Gateway": [], "LifecycleTests": [],
  ]
  package.targets.removeAll { $0.type == .test && folders[$0.name] == nil }
  // Without folders: the whole target.
  for target in package.targets { if let list = folders[target.name], !list.isEmpty { target.sources = list } }
case "thread":
  let leftOut: Set = ["ApusTestingTests", "ApusTestServerTests", "RealServerTests", "DocumentationTests"]
  package.targets.removeAll { leftOut.contains($0.name) }
default: break
}
