import ApusCore
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@Suite("Prefetched pages")
struct PagePrefetchTests {
  @TaskLocal private static var label = ""

  private let bench = PageBench()

  @Test("Prefetching starts with the loop and fetches only one page ahead")
  func onePage() async throws {
    bench.stubPages(4)
    let pages = bench.numbered.prefetching()
    #expect(bench.targets.isEmpty)
    var iterator = pages.makeAsyncIterator()
    for number in 1...4 {
      #expect(try await iterator.next()?.number == number)
      try await bench.stub.waitForExchanges(min(number + 1, 4))
      try await bench.stub.waitUntilIdle()
      #expect(bench.targets.count == min(number + 1, 4))
    }
    #expect(try await iterator.next() == nil)
    #expect(bench.targets == (1...4).map { "/items?page=\($0)" })
  }

  @Test("The next page is in flight while the loop processes a page")
  func concurrency() async throws {
    let gate = Gate()
    bench.stubPages(2)
    let second = ItemPage(items: [3], number: 2, total: 2)
    bench.stub.on(.get, "/items?page=2", reply: .encoded(second).waiting(for: gate))
    var numbers: [Int] = []
    for try await page in bench.numbered.prefetching() {
      numbers.append(page.number)
      // Without prefetching no call would arrive at the gate.
      if page.number == 1 { try await gate.waitForArrivals(1) }
      gate.open()
    }
    #expect(numbers == [1, 2])
  }

  @Test("Without prefetching no page is requested ahead")
  func withoutPrefetching() async throws {
    bench.stubPages(2)
    var iterator = bench.numbered.makeAsyncIterator()
    _ = try await iterator.next()
    #expect(bench.targets.count == 1)
  }

  @Test("All kinds of paging can be prefetched, with positions and by element")
  func drivers() async throws {
    bench.stubPage("/items", [1], next: "/items?after=a", cursor: "a")
    bench.stubPage("/items?after=a", [2])
    let urls = bench.api.pages(of: .items, next: .url(\.next)).prefetching()
    #expect(await collect(urls).items == [1, 2])
    let cursors = bench.api.pages(of: { .items(after: $0) }, next: .cursor { $0.cursor }).prefetching()
    #expect(try await all(cursors.withPositions).map { $0.next == nil } == [false, true])
    #expect(try await all(cursors.elements(\.items)) == [1, 2])
  }

  @Test("Leaving the loop cancels the prefetched call")
  func leaving() async throws {
    bench.stubPages(2)
    bench.stub.on(.get, "/items?page=2", reply: .stalled)
    for try await _ in bench.numbered.prefetching() {
      try await bench.stub.waitForExchanges(2)
      break
    }
    #expect(try await bench.stub.waitUntilIdle().last?.outcome == .cancelled)
  }

  @Test("Cancelling the task cancels the prefetched call that the loop waits for")
  func cancelling() async throws {
    bench.stubPages(2)
    bench.stub.on(.get, "/items?page=2", reply: .stalled)
    let pages = bench.numbered.prefetching()
    let loop = Task { await collect(pages) }
    try await bench.stub.waitForExchanges(2)
    loop.cancel()
    let (items, error) = await loop.value
    #expect(items == [1, 2] && error?.cancellation == .caller)
    #expect(try await bench.stub.waitUntilIdle().last?.outcome == .cancelled)
  }

  @Test("Cancelling the task while it processes a page cancels the prefetched call at the end of the loop")
  func cancellingWork() async throws {
    bench.stubPages(2)
    bench.stub.on(.get, "/items?page=2", reply: .stalled)
    let (pages, gate) = (bench.numbered.prefetching(), Gate())
    let loop = Task {
      for try await _ in pages { try await gate.wait() }
    }
    try await gate.waitForArrivals(1)
    try await bench.stub.waitForExchanges(2)
    loop.cancel()
    await #expect(throws: CancellationError.self) { try await loop.value }
    #expect(try await bench.stub.waitUntilIdle().last?.outcome == .cancelled)
  }

  @Test("A loop that was cancelled while it processed a page prefetches no further page")
  func cancelledLoop() async throws {
    bench.stubPages(3)
    let pages = bench.numbered.prefetching()
    let error = await Task {
      var iterator = pages.makeAsyncIterator()
      let first = await nextError(&iterator)
      withUnsafeCurrentTask { $0?.cancel() }
      let second = await nextError(&iterator)
      let third = try? await iterator.next()
      #expect(first == nil && third == nil)
      return second
    }.value
    #expect(error?.isCancellation == true)
    #expect(bench.targets.count <= 2)
  }

  @Test("An error of the prefetched page is thrown when that page is requested")
  func failedPage() async throws {
    bench.stubPages(3)
    bench.stub.on(.get, "/items?page=2", reply: .status(503))
    var iterator = bench.numbered.prefetching().makeAsyncIterator()
    #expect(try await iterator.next()?.number == 1)
    try await bench.stub.waitForExchanges(2)
    try await bench.stub.waitUntilIdle()
    let error = await nextError(&iterator)
    #expect(error?.status == 503)
    #expect(try await iterator.next() == nil)
    #expect(bench.targets.count == 2)
  }

  @Test("A refused page is not prefetched, and the refusal is thrown after the previous pages")
  func refusedPage() async throws {
    bench.stubPage("/items", [1], next: "/2")
    bench.stubPage("/2", [2], next: "/items")
    let (items, error) = await collect(bench.api.pages(of: .items, next: .url(\.next)).prefetching())
    #expect(items == [1, 2])
    #expect(error?.detail == "the list leads back to a page that it contained before")
    #expect(bench.targets.count == 2)
  }

  @Test("Prefetched calls inherit the deadline and the task-local values of the loop, and run on the client's executor")
  func inheritance() async throws {
    let deadlines = Log<MonotonicInstant?>()
    let labels = Log<String>()
    let looking = Doing { request, context, next in
      deadlines.add(context.deadline)
      labels.add(Self.label)
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(looking, .scheduling)])
    bench.stub.on(.get, "/items?page=1", reply: .encoded(ItemPage(items: [1], number: 1, total: 2)))
    bench.stub.on(.get, "/items?page=2", reply: .encoded(ItemPage(items: [2], number: 2, total: 2)))
    let pages = bench.api.pages(of: { .items(page: $0) }, next: .number { !$0.isLast }).prefetching()
    let result = await Self.$label.withValue("loop") {
      await bench.api.withDeadline(.seconds(5)) { await collect(pages) }
    }
    #expect(result.items == [1, 2])
    #expect(deadlines.all == Array(repeating: MonotonicInstant(sinceStart: .seconds(5)), count: 2))
    #expect(labels.all == ["loop", "loop"])
  }

  @Test("A prefetched call ends at the deadline of the loop, and its error is thrown when its page is requested")
  func deadline() async throws {
    let bench = CallBench()
    bench.stub.on(.get, "/items?page=1", reply: .encoded(ItemPage(items: [1], number: 1, total: 2)))
    bench.stub.on(.get, "/items?page=2", reply: .stalled)
    let pages = bench.api.pages(of: { .items(page: $0) }, next: .number { !$0.isLast }).prefetching()
    let loop = Task {
      await bench.api.withDeadline(.seconds(5)) { await collect(pages) }
    }
    try await bench.stub.waitForExchanges(2)
    bench.clock.advance(by: .seconds(5))
    let (items, error) = await loop.value
    #expect(items == [1] && error?.code == .timeout)
    #expect(bench.isClean)
  }
}
