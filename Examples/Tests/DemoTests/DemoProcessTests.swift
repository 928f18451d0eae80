import Backend
import Foundation
import Testing

/// The demo as a person runs it: the built program, in a process of its own.
@Suite(.serialized) struct DemoProcessTests {
  private struct Ending: Sendable {
    let status: Int32
    let output: String
  }

  /// Runs the program that was built beside this test's own.
  private func run(_ arguments: String...) async throws -> Ending {
    // A bundle on Apple platforms, the running program itself elsewhere.
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let folder = try #require(bundle ?? Bundle.main.executableURL).deletingLastPathComponent()
    let process = Process()
    process.executableURL = folder.appendingPathComponent("demo")
    process.arguments = ["--latency", "60", "--password-hash-rounds", "2"] + arguments
    // Into a file: a pipe would have to be read by a thread that may block.
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

  @Test("it ends with success when everything arrived as expected")
  func success() async throws {
    let ending = try await run()
    #expect(ending.status == 0, "\(ending.output)")
    #expect(ending.output.contains("expectations are met."))
    #expect(!ending.output.contains("✗"))
    #expect(!ending.output.contains("\u{1B}"))
    // One refresh for each end of a token, and none that signs somebody in again.
    #expect(ending.output.contains("20 calls in 7.0 seconds, none failed"))
    // The live list: what comes last goes first.
    for call in ["GET /movie/now_playing runs", "GET /search/movie waits", "GET /search/movie is done"] {
      #expect(ending.output.contains("\(call)\n"), "\(call)")
    }
    let names = [
      "short-tokens", "refreshes", "late-answer", "stays-out", "session-over", "posters-wait", "posters-limit",
      "loader-shows", "one-key", "added-once", "tried-again", "pauses", "circuit-changes", "dead-circuit", "phases",
      "not-in-time",
    ]
    for name in names {
      #expect(ending.output.contains("✓ \(name) "), "\(name)")
    }
    #if os(Linux)
      // What SwiftNIO's transport tells in a trace, and no other does here.
      #expect(ending.output.contains("reused connection") || ending.output.contains("new connection"))
    #endif
  }

  @Test("it marks an expectation that is not met and ends with failure")
  func broken() async throws {
    let ending = try await run("--break", "tap-again")
    #expect(ending.status == 1)
    let marked = ending.output.split(separator: "\n").filter { $0.contains("✗") }
    #expect(marked.count == 1)
    #expect(marked.first?.contains("tap-again") == true)
  }

  @Test("it ends with failure when it is told to break what does not exist")
  func unknown() async throws {
    let ending = try await run("--break", "nonsense")
    #expect(ending.status == 1)
    #expect(ending.output.contains("There is no expectation named nonsense."))
  }

  @Test("backends that run already are played with, and their logs read over HTTP")
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

  @Test("a backend that answers too fast for anything to be in flight is refused")
  func tooFast() async throws {
    let backend = try await Backend.start()
    let ending = try await run("--base-url", backend.baseURL)
    #expect(ending.status == 1)
    #expect(ending.output.contains("Start it with --latency 150."))
    await backend.stop()
  }

  @Test("a server that is not there keeps it from beginning")
  func noServer() async throws {
    let ending = try await run("--base-url", "http://127.0.0.1:1")
    #expect(ending.status != 0)
    #expect(!ending.output.contains("expectations are met"))
  }
}
