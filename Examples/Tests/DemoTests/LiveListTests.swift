import Apus
import ApusTesting
import Synchronization
import Testing

@testable import Demo

@Suite(.timeLimit(.minutes(5))) struct LiveListTests {
  private let stub = StubTransport()
  private let gate = Gate()
  private let list = LiveList()

  /// Waits until the list has certain counts. The list reports each change.
  ///
  /// - Throws: `CancellationError` at the time limit of the test.
  private func wait(for counts: (Int, Int, Int)) async throws {
    if list.counts == counts { return }
    for await _ in list.changes where list.counts == counts { return }
    throw CancellationError()
  }

  private func client(_ url: BaseURL, _ scheduler: Scheduler) -> Client {
    Client(baseURL: url, transport: stub) {
      $0.scheduler = scheduler
      $0.observers.append(list)
    }
  }

  @Test("Calls are counted while queued, while running, and after their end, whether successful or not")
  func counts() async throws {
    stub.onAny(reply: .status(204).waiting(for: gate))
    stub.on(.get, "/missing", reply: .status(404).waiting(for: gate))
    let client = client("https://x.test", Scheduler(ConcurrencyLimits(perOrigin: 2)))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for path in ["/missing", "/", "/", "/", "/"] as [RequestPath] {
        // The call to /missing fails.
        group.addTask { try? await client.send(Request<Void>.method(.get, path)) }
      }
      try await wait(for: (3, 2, 0))
      gate.open()
    }
    try await wait(for: (0, 0, 5))
    #expect(list.line == "\(Stage.bar(1, of: 1))  0 waiting, 0 running, 5 done")
    #expect(list.lines() == [list.line])
    // Only changes of the first call of each endpoint are reported as news.
    let ended = list.nextNews().filter { !$0.hasSuffix(" queued") && !$0.hasSuffix(" running") }.sorted()
    #expect(ended == ["GET / succeeded", "GET /missing failed: rejected"])
    #expect(list.nextNews().isEmpty)
  }

  @Test("The calls of all clients have a line each, running calls first, up to the maximum")
  func lines() async throws {
    stub.onAny(reply: .status(204).waiting(for: gate))
    let scheduler = Scheduler(ConcurrencyLimits(perOrigin: 1))
    let clients = [client("https://x.test/a", scheduler), client("https://x.test/b", scheduler)]
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await clients[0].send(Request<Void>.method(.get, "/first")) }
      try await wait(for: (0, 1, 0))
      // The first of these calls has the same number as the first call of the other client, but a separate line.
      for _ in 0..<4 { group.addTask { try await clients[1].send(Request<Void>.method(.get, "/others/\(1)")) } }
      try await wait(for: (4, 1, 0))
      let lines = list.lines(maximum: 3)
      let calls = ["running   GET /first", "queued    GET /others/{}", "queued    GET /others/{}"]
      #expect(lines == [list.line] + calls + ["… and 2 more"])
      #expect(list.lines().count == 6)
      gate.open()
      try await group.waitForAll()
    }
  }

  @Test("On a terminal the list is redrawn in place; elsewhere changes are printed as lines", arguments: [true, false])
  func board(isTerminal: Bool) async throws {
    stub.onAny(reply: .status(204))
    let written = Written()
    let board = LiveBoard(list, on: Stage(isTerminal: isTerminal) { written.add($0) })
    let client = client("https://x.test", Scheduler(ConcurrencyLimits(perOrigin: 1)))
    try await client.send(Request<Void>.method(.get, "/first"))
    try await wait(for: (0, 0, 1))
    board.refresh()
    board.say("meanwhile")
    board.close()
    let text = written.text
    if isTerminal {
      // The list is drawn, erased, drawn again below the printed line, and erased at the end.
      let (line, back) = ("  \(list.line)\n", "\u{1B}[1A\r\u{1B}[J")
      #expect(text == line + back + "  meanwhile\n" + line + back + line)
    } else {
      #expect(text == "  · GET /first running\n  · GET /first succeeded\n  meanwhile\n  \(list.line)\n")
    }
  }
}

/// The text written so far.
private final class Written: Sendable {
  private let all = Mutex("")

  var text: String { all.withLock { $0 } }

  func add(_ text: String) {
    all.withLock { $0 += text }
  }
}
