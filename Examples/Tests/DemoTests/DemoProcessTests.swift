import Backend
import Foundation
import Testing

/// The built program in its own process.
@Suite(.serialized) struct DemoProcessTests {
  private struct Ending: Sendable {
    let status: Int32
    let output: String
  }

  /// Whether third-party servers must be installed.
  private static let requiresServers: Bool = {
    let environment = ProcessInfo.processInfo.environment
    return environment["APUS_SERVERS"] == "required" || environment["CI"] == "true"
  }()

  /// Runs the program in the folder of the test's executable.
  ///
  /// - Parameter requiring: whether the demo requires third-party servers. Default: `nil`, as these tests do.
  private func run(_ arguments: String..., requiring: Bool? = nil) async throws -> Ending {
    // Apple platforms have a test bundle; elsewhere the tests are the running executable.
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let folder = try #require(bundle ?? Bundle.main.executableURL).deletingLastPathComponent()
    let process = Process()
    process.executableURL = folder.appendingPathComponent("demo")
    process.arguments = ["--latency", "60", "--password-hash-rounds", "2"] + arguments
    if let requiring {
      let changes = ["APUS_SERVERS": requiring ? "required" : "", "CI": ""]
      process.environment = ProcessInfo.processInfo.environment.merging(changes) { $1 }
    }
    // The output is written to a file, because reading a pipe would block a thread.
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString).txt")
    _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: file) }
    let output = try FileHandle(forWritingTo: file)
    process.standardOutput = output
    process.standardError = output
    let (ends, ended) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in ended.finish() }
    try process.run()
    for await _ in ends {}
    try output.close()
    return Ending(status: process.terminationStatus, output: try String(contentsOf: file, encoding: .utf8))
  }

  @Test("The demo succeeds when all expectations are met")
  func success() async throws {
    let ending = try await run()
    #expect(ending.status == 0, "\(ending.output)")
    #expect(ending.output.contains("expectations are met."))
    #expect(!ending.output.contains("\n  ✗ "))
    #expect(!ending.output.contains("\u{1B}"))
    // The first lines describe the demo.
    #expect(ending.output.hasPrefix("Apus: small apps against real servers\n"))
    #expect(ending.output.contains("20 calls in 7.0 seconds, none failed"))
    // The live list prints the changes of calls.
    for call in ["GET /movie/now_playing running", "GET /search/movie queued", "GET /search/movie succeeded"] {
      #expect(ending.output.contains("\(call)\n"), "\(call)")
    }
    let names = [
      "short-tokens", "refreshes", "late-response", "stays-signed-out", "session-over", "posters-yield",
      "posters-limit", "loader-shows", "one-key", "added-once", "retried", "delays", "circuit-changes", "open-circuit",
      "phases", "no-late-retry", "no-internet", "offline-error", "back-online", "new-movies", "new-movies-list",
      "stored-friends", "offline-friends", "refreshed-friends", "other-account", "videos", "video-rows",
      "movies-qa", "movies-staging", "movies-production", "key-qa", "key-staging", "key-production",
      "request-log", "log-secrets", "headlines", "duplicate-id", "envelope", "after-restart", "encrypted-file",
      "restored-account", "no-session-left", "accounts-token", "analytics-key", "redirect-credentials",
      "avatar", "avatar-token", "avatar-image", "avatar-secrets", "avatar-bytes", "upload-progress", "download",
      "download-range", "download-repeated", "download-file", "activity", "last-event", "activity-once",
      "resumed-pages", "no-page-twice", "all-people", "discovery", "pkce", "browser-sign-in", "code-exchange",
      "browser-token", "cancelled-sign-in", "oauth-restart", "oauth-tokens", "oauth-refresh", "no-second-sign-in",
      "oauth-revoked", "oauth-account", "rotated",
    ]
    for name in names {
      #expect(ending.output.contains("✓ \(name) "), "\(name)")
    }
    let bucket = [
      "bucket-avatar", "bucket-properties", "bucket-link", "unsigned-read", "bucket-list", "bucket-empty",
      "bucket-deleted",
    ]
    let isSkipped = ending.output.contains("Skipped: SeaweedFS")
    if !isSkipped || Self.requiresServers {
      for name in bucket { #expect(ending.output.contains("✓ \(name) "), "\(name)") }
    }
    #if os(Linux)
    // The trace contains this event with the SwiftNIO transport only.
    #expect(ending.output.contains("reused HTTP/1.1 connection") || ending.output.contains("new HTTP/1.1 connection"))
    #endif
  }

  @Test("An unmet expectation is marked, and the demo fails; a scene without its server is skipped")
  func broken() async throws {
    let ending = try await run("--break", "double-tap", "--checkout", "/nowhere", requiring: false)
    #expect(ending.status == 1)
    #expect(
      ending.output.contains(
        "  Skipped: SeaweedFS is not installed; scripts/servers/install-from-pypi installs it.\n"))
    #expect(ending.output.contains(" expectations are not met. 1 scene was skipped.\n"))
    let marked = ending.output.split(separator: "\n").filter { $0.hasPrefix("  ✗ ") }
    #expect(marked.count == 1)
    #expect(marked.first?.contains("double-tap") == true)
  }

  @Test("The demo fails if the expectation to break does not exist, and if a required server is missing")
  func unknown() async throws {
    let ending = try await run("--break", "nonsense", "--checkout", "/nowhere", requiring: true)
    #expect(ending.status == 1)
    #expect(ending.output.contains("✗ SeaweedFS is not installed"))
    #expect(ending.output.contains("There is no expectation named nonsense."))
  }

  @Test("Running backends are used, and their logs are read over HTTP")
  func runningBackends() async throws {
    var options = Backend.Options()
    options.latency = .milliseconds(60)
    options.passwordHashRounds = 2
    let (staging, production) = try await (Backend.start(options), Backend.start(options))
    let ending = try await run("--base-url", staging.baseURL, "--production-url", production.baseURL)
    #expect(ending.status == 0, "\(ending.output)")
    #expect(!staging.log.rows.isEmpty)
    #expect(!production.log.rows.isEmpty)
    await staging.stop()
    await production.stop()
  }

  @Test("A backend that responds too fast to display calls in flight is rejected")
  func tooFast() async throws {
    let backend = try await Backend.start()
    let ending = try await run("--base-url", backend.baseURL)
    #expect(ending.status == 1)
    #expect(ending.output.contains("Start it with --latency 150."))
    await backend.stop()
  }

  @Test("A server that cannot be reached prevents the start")
  func noServer() async throws {
    let ending = try await run("--base-url", "http://127.0.0.1:1")
    #expect(ending.status != 0)
    #expect(!ending.output.contains("expectations are met"))
  }
}
