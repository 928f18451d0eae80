#if os(Linux) || os(macOS)
import Foundation
import Testing

/// Runs the checkers over the sources. The checkers' own tests in `scripts/tests` prove that they detect violations.
@Suite("14, 36, 37, 39, 42: rules for the sources")
struct Capability14BoundariesTests {
  private static let noPython: Comment = "python3 is not on PATH"

  private func check(_ script: String) async throws -> (status: Int32, output: String) {
    try await #require(Tool.python, Self.noPython).run(["scripts/\(script)"], in: package)
  }

  @Test(
    "Each target imports only permitted modules: core depends on no models, persistence or transport",
    .needs(Tool.python != nil, noPython))
  func imports() async throws {
    let result = try await check("check_imports.py")
    #expect(result.status == 0, "\(result.output)")
  }

  @Test(
    "The library has no force unwrap, trap or unowned reference, and core has no `@unchecked Sendable`",
    .needs(Tool.python != nil, noPython))
  func constructs() async throws {
    let result = try await check("check_constructs.py")
    #expect(result.status == 0, "\(result.output)")
  }

  @Test(
    "The checkers detect violations", .needs(Tool.python != nil, noPython),
    arguments: ["imports", "constructs"])
  func checkers(name: String) async throws {
    let result = try await #require(Tool.python, Self.noPython).run(
      ["-m", "unittest", "discover", "-s", "scripts/tests", "-t", "scripts", "-p", "test_check_\(name).py"],
      in: package)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains(/Ran [1-9]/))
  }

  @Test(
    "ApusCore depends only on swift-http-types and ApusJSON; ApusMiddleware also depends on ApusFiles and swift-log")
  func dependencies() async throws {
    let manifest = try String(contentsOf: package.appendingPathComponent("Package.swift"), encoding: .utf8)
    #expect(manifest.contains(#".target(name: "ApusCore", dependencies: ["ApusJSON", httpTypes], "#))
    #expect(manifest.contains(#".target(name: "ApusJSON", swiftSettings: settings)"#))
    let middleware = /name: "ApusMiddleware",\s+dependencies: \["ApusCore", "ApusFiles", httpTypes, logging\]/
    #expect(manifest.contains(middleware))
    #expect(manifest.contains(#".target(name: "ApusFiles", swiftSettings: settings)"#))
    #expect(manifest.contains(#"let httpTypes = Target.Dependency.product(name: "HTTPTypes", "#))
  }

  @Test("Every target is compiled in Swift 6 language mode with warnings as errors")
  func strictness() async throws {
    let manifest = try String(contentsOf: package.appendingPathComponent("Package.swift"), encoding: .utf8)
    #expect(manifest.contains("swiftLanguageModes: [.v6]"))
    #expect(manifest.contains(".treatAllWarnings(as: .error)"))
    // Excludes targets in lists of dependencies, which have a condition.
    let targets = manifest.matches(of: /\.(?:(?:test|executable)?[tT]arget|macro)\(\s*name: "\w+",(?!\s*condition)/)
    #expect(targets.count > 5)
    #expect(targets.count == manifest.matches(of: /swiftSettings: settings/).count)
  }

  @Test(
    "ApusCore has no platform conditions, and ApusMiddleware has platform conditions only in the network monitor and the memory warning"
  )
  func platforms() async throws {
    let condition = /#(?:if|elseif)\s+.*(?:os\(|canImport\((?!FoundationEssentials\)))/
    var atTheEdges = 0
    for target in ["ApusCore", "ApusMiddleware", "Apus", "ApusTesting", "ApusURLSession"] {
      for (name, text) in try sources(of: target) {
        let lines = text.split(separator: "\n").filter { $0.firstMatch(of: condition) != nil }
        // The files that contain or choose a platform's transport, defaults and network monitor.
        let isEdge =
          target == "ApusURLSession" || name.contains("/Apple/")
          || ["Client+Configuration.swift", "Configuration+Preset.swift", "Connectivity/Connectivity+System.swift"]
            .contains(name)
        if isEdge { atTheEdges += lines.count } else { #expect(lines == [], "\(name)") }
      }
    }
    // Proves that the search finds conditions.
    #expect(atTheEdges > 0)
  }

  private func sources(of target: String) throws -> [(name: String, text: String)] {
    let folder = package.appendingPathComponent("Sources/\(target)")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    return try names.map { ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)) }
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips a test that needs a program that this machine lacks. In CI no test is skipped.
  static func needs(_ isThere: @autoclosure @escaping @Sendable () -> Bool, _ missing: Comment) -> Self {
    .enabled(missing) {
      let environment = ProcessInfo.processInfo.environment
      return isThere() || environment["CI"] == "true" || environment["APUS_SERVERS"] == "required"
    }
  }
}
#endif
