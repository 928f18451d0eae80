// swift-tools-version: 6.2
import CompilerPluginSupport
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

func syntax(_ product: String) -> Target.Dependency { .product(name: product, package: "swift-syntax") }

// A separate package, because the library's tests build without the trait `Macros`, and so without swift-syntax.
let package = Package(
  name: "apus-macros",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "apus", path: "../..", traits: ["Macros"]),
    .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
  ],
  targets: [
    // Builds the sources of the plugin through a symbolic link, because a test cannot import the macro target of
    // another package.
    .macro(
      name: "ApusMacrosExpansion",
      dependencies: [
        syntax("SwiftSyntax"), syntax("SwiftSyntaxBuilder"), syntax("SwiftSyntaxMacros"), syntax("SwiftDiagnostics"),
        syntax("SwiftParser"), syntax("SwiftCompilerPlugin"),
      ],
      path: "Sources/ApusMacrosPlugin", swiftSettings: settings + [.define("Macros")]),
    .testTarget(
      name: "ApusMacrosPluginTests",
      dependencies: [
        "ApusMacrosExpansion", syntax("SwiftSyntax"), syntax("SwiftSyntaxBuilder"), syntax("SwiftSyntaxMacroExpansion"),
        syntax("SwiftSyntaxMacrosGenericTestSupport"),
      ],
      path: "ApusMacrosPluginTests", swiftSettings: settings),
    .testTarget(
      name: "ApusMacrosTests", dependencies: [.product(name: "ApusMacros", package: "apus")], path: "ApusMacrosTests",
      swiftSettings: settings),
    // The samples of the documentation of ApusMacros, written by scripts/samples.
    .testTarget(
      name: "SampleTests", dependencies: [.product(name: "ApusMacros", package: "apus")], path: "SampleTests",
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
