import Apus
import ApusTesting
import Synchronization
import Testing

@testable import Demo

@Suite(.timeLimit(.minutes(1))) struct LiveListTests {
  private let stub = StubTransport()
  private let gate = Gate()
  private let list = LiveList()

  /// Waits until the list has such counts.
  ///
  /// - Throws: `CancellationError` when that takes longer than the test may.
  private func wait(for counts: (Int, Int, Int)) async throws {
    while list.counts != counts {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  private func client(_ url: BaseURL, _ scheduler: Scheduler) -> Client {
    Client(baseURL: url, transport: stub) {
      $0.scheduler = scheduler
      $0.settings.observers.append(list)
    }
  }

  @Test("calls are counted while they wait for their turn, while they run, and when they have ended, however that was")
  func counts() async throws {
    stub.onAny(answer: .status(204).waiting(for: gate))
    stub.on(.get, "/missing", answer: .status(404).waiting(for: gate))
    let client = client("https://x.test", Scheduler(SchedulingLimits(perOrigin: 2)))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for path in ["/missing", "/", "/", "/", "/"] as [RequestPath] {
        // The one that is not found is an error.
        group.addTask { try? await client.send(Request<Void>.method(.get, path)) }
      }
      try await wait(for: (3, 2, 0))
      gate.open()
    }
    try await wait(for: (0, 0, 5))
    #expect(list.line == "\(Stage.bar(1, of: 1))  0 wait, 0 run, 5 are done")
    #expect(list.lines() == [list.line])
    // Of five calls the first of each endpoint.
    let ended = list.takeNews().filter { !$0.hasSuffix(" waits") && !$0.hasSuffix(" runs") }.sorted()
    #expect(ended == ["GET / is done", "GET /missing fails, rejected"])
    #expect(list.takeNews().isEmpty)
  }

  @Test("each call on the way has a line, of whichever client, running ones first, and no more lines than fit")
  func lines() async throws {
    stub.onAny(answer: .status(204).waiting(for: gate))
    let scheduler = Scheduler(SchedulingLimits(perOrigin: 1))
    let clients = [client("https://x.test/a", scheduler), client("https://x.test/b", scheduler)]
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await clients[0].send(Request<Void>.method(.get, "/first")) }
      try await wait(for: (0, 1, 0))
      // The first call of its client as well: not taken for the other one.
      for _ in 0..<4 { group.addTask { try await clients[1].send(Request<Void>.method(.get, "/others/\(1)")) } }
      try await wait(for: (4, 1, 0))
      let lines = list.lines(most: 3)
      let calls = ["runs    GET /first", "waits   GET /others/{}", "waits   GET /others/{}"]
      #expect(lines == [list.line] + calls + ["… and 2 more"])
      #expect(list.lines().count == 6)
      gate.open()
      try await group.waitForAll()
    }
  }

  @Test("on a terminal it is drawn in its place, elsewhere its changes are lines", arguments: [true, false])
  func board(isTerminal: Bool) async throws {
    stub.onAny(answer: .status(204))
    let written = Written()
    let board = LiveBoard(list, on: Stage(isTerminal: isTerminal) { written.add($0) })
    let client = client("https://x.test", Scheduler(SchedulingLimits(perOrigin: 1)))
    try await client.send(Request<Void>.method(.get, "/first"))
    try await wait(for: (0, 0, 1))
    board.refresh()
    board.say("meanwhile")
    board.close()
    let text = written.text
    if isTerminal {
      // Drawn, taken back, drawn below what is said, and taken back for good.
      let (line, back) = ("  \(list.line)\n", "\u{1B}[1A\r\u{1B}[J")
      #expect(text == line + back + "  meanwhile\n" + line + back + line)
    } else {
      #expect(text == "  GET /first runs\n  GET /first is done\n  meanwhile\n  \(list.line)\n")
    }
  }
}

/// What was written.
private final class Written: Sendable {
  private let all = Mutex("")

  var text: String { all.withLock { $0 } }

  func add(_ text: String) {
    all.withLock { $0 += text }
  }
}
