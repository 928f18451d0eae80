import Foundation
import Testing

/// The demo as a person runs it: the built program, in a process of its own.
@Suite struct DemoProcessTests {
  private struct Ending: Sendable {
    let status: Int32
    let output: String
  }

  /// Runs the program that was built beside this test's own.
  private func run(_ arguments: String...) async throws -> Ending {
    let folder = try #require(Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL)
      .deletingLastPathComponent()
    let process = Process()
    process.executableURL = folder.appendingPathComponent("demo")
    process.arguments = ["--latency", "60", "--password-hash-rounds", "2"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    let (ends, ended) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in ended.finish() }
    try process.run()
    // Read to its end on a thread that may block; a full pipe would hold the program up.
    let reading = Task.detached { try pipe.fileHandleForReading.readToEnd() ?? Data() }
    let output = try await reading.value
    for await _ in ends {}
    return Ending(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
  }

  @Test("it ends with success when everything arrived as expected")
  func success() async throws {
    let ending = try await run()
    #expect(ending.status == 0, "\(ending.output)")
    #expect(ending.output.contains("expectations are met."))
    #expect(!ending.output.contains("✗"))
    #expect(!ending.output.contains("\u{1B}"))
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

  @Test("a server that is not there keeps it from beginning")
  func noServer() async throws {
    let ending = try await run("--base-url", "http://127.0.0.1:1")
    #expect(ending.status != 0)
    #expect(!ending.output.contains("expectations are met"))
  }
}
