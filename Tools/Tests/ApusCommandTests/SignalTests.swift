import ApusTestServer
import Foundation
import Testing

/// Signals and closed inputs and outputs.
@Suite("Signals and closed inputs and outputs", .timeLimit(.minutes(3)))
struct SignalTests {
  @Test(
    "A signal cancels the call and determines the status",
    arguments: [(SIGHUP, 129), (SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func signal(number: Int32, status: Int32) async throws {
    try await TestServer.with { _ in
      .generated(1_000_000).stalling(at: .content(100))
    } body: { server in
      let path = FileManager.default.temporaryDirectory.appending(path: "part-\(UUID())").path
      let run = try await ToolRun.of(["send", "-o", path, server.origin]) { process in
        _ = try await server.exchanges(atLeast: 1)
        kill(process, number)
      }
      #expect(run.isOrderly)
      #expect(run.status == status)
      #expect(run.error == "apus: Interrupted.\n")
      #expect(!FileManager.default.fileExists(atPath: path))
      try await server.waitForClientClose(of: #require(server.exchanges.first))
    }
  }

  @Test(
    "A signal that was ignored at the start stays ignored",
    arguments: [("HUP", SIGHUP), ("INT", SIGINT)] as [(String, Int32)])
  func ignored(name: String, number: Int32) async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("hi").waiting(for: gate)
    } body: { server in
      let run = try await ToolRun.of(["send", server.origin], .init(preparation: "trap '' \(name)")) { process in
        try await server.wait { $0.inFlight == 1 }
        kill(process, number)
        gate.open()
      }
      #expect(run.status == 0)
      #expect(run.text == "hi")
    }
  }

  @Test("The tool does not wait for a stalled reader")
  func slowReader() async throws {
    try await TestServer.with { _ in
      .generated(10_000_000)
    } body: { server in
      let output = try PipeEnds()
      let run = try await ToolRun.of(["send", server.origin], .init(output: output.write)) { process in
        #expect(await !output.receive().isEmpty)
        kill(process, SIGINT)
      }
      #expect(run.status == 130)
    }
  }

  @Test("The tool does not wait for an endless input")
  func slowInput() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { server in
      let input = try PipeEnds()
      let run = try await ToolRun.of(["send", server.origin, "--data", "-"], .init(inputEnd: input.read)) { process in
        _ = try await server.wait { $0.acceptedConnections > 0 }
        kill(process, SIGINT)
      }
      #expect(run.status == 130)
    }
  }

  @Test("A cancelled batch writes a line for every request that it has read")
  func batch() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      let input = (1...20).map { #"{"n":\#($0),"url":"\#(server.origin)/"}"# + "\n" }.joined()
      let run = try await ToolRun.of(["batch"], .init(input: Data(input.utf8))) { process in
        try await server.wait { $0.inFlight == 20 }
        kill(process, SIGINT)
      }
      #expect(run.status == 130)
      #expect(run.lines.count == 20)
      #expect(run.lines.allSatisfy { $0.contains(#""code":"cancelled""#) })
    }
  }
}
