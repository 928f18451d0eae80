#if os(Linux)
import Apus
import ApusNIO
import ApusTestServer
import ApusTesting
import Foundation
import Testing

@Suite("A soak test that counts what servers execute")
struct ExecutionsSoakTests {
  /// The number of calls: `APUS_FAULTY_CALLS`, or 3,000.
  static let calls = ProcessInfo.processInfo.environment["APUS_FAULTY_CALLS"].flatMap { Int($0) } ?? 3000
  private static let atOnce = 30

  @Test(
    "Servers execute each keyed order once, redirected orders and unsafe GETs at most once, and one refresh per token",
    arguments: [UInt64(1), 2])
  func executions(seed: UInt64) async throws {
    let shop = Shop(seed: seed)
    try await TestServer.with(options: .init(contentLimit: 1 << 10)) {
      shop.replyElsewhere(to: $0)
    } body: { other in
      let elsewhere = other.origin.replacing("127.0.0.1", with: "localhost")
      try await TestServer.with(options: .init(contentLimit: 1 << 10)) {
        shop.reply(to: $0, elsewhere: elsewhere)
      } body: { server in
        let codes = await Self.storm(Self.calls / 2, seed, server)
        Self.check(shop.books, codes)
      }
    }
  }

  /// Performs the calls and returns the number of calls that ended with each code; `nil` is success.
  private static func storm(_ count: Int, _ seed: UInt64, _ server: TestServer) async -> [CallError.Code?: Int] {
    let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "a1", refresh: "r1")))
    let api = server.client {
      $0.authentication = .bearer(tokens) { try await $0.tokens(from: "/token") }
      $0.retry = RetryPolicy(maximumAttempts: 4, baseDelay: .milliseconds(1))
      $0.retryBudget = .unlimited
      // No breaker, because every request must reach the servers, which count requests.
      $0.breaker = nil
    }
    var random = SeededGenerator(seed: ~seed)
    var codes: [CallError.Code?: Int] = [:]
    await withTaskGroup(of: CallError.Code?.self) { group in
      for number in 1...count {
        if number > atOnce, let ended = await group.next() { codes[ended, default: 0] += 1 }
        let yields = Int.random(in: 0..<10, using: &random) == 0 ? Int.random(in: 0..<50, using: &random) : nil
        group.addTask { await outcome(of: request(number), by: api, cancelledAfter: yields) }
      }
      for await ended in group { codes[ended, default: 0] += 1 }
    }
    #expect(api.calls.isEmpty)
    return codes
  }

  private static func request(_ number: Int) -> Request<Void> {
    switch number % 3 {
    case 0: .get("/tickets/\(number)").idempotent(false)
    default: .post("/orders", content: .bytes(Data("\(number)".utf8))).idempotencyKey()
    }
  }

  private static func outcome(
    of request: Request<Void>, by api: Client, cancelledAfter yields: Int?
  ) async -> CallError.Code? {
    let call = Task { () async -> CallError.Code? in
      do throws(CallError) {
        try await api.send(request)
        return nil
      } catch {
        return error.code
      }
    }
    if let yields {
      for _ in 0..<yields { await Task.yield() }
      call.cancel()
    }
    return await call.value
  }

  private static func check(_ books: Shop.Books, _ codes: [CallError.Code?: Int]) {
    let repeated = books.orders.filter { $0.value.count > 1 }
    #expect(repeated.isEmpty, "orders carried out more than once: \(repeated)")
    let drawn = books.tickets.filter { $0.value > 1 }
    #expect(drawn.isEmpty, "tickets drawn more than once: \(drawn)")
    let refreshed = books.refreshes.filter { $0.value > 1 }
    #expect(refreshed.isEmpty, "generations refreshed more than once: \(refreshed)")
    #expect(books.strayKeys == 0)
    // No race at the token endpoint fails a call or ends the session.
    #expect(codes[.refused] == nil && codes[.handler] == nil, "\(codes)")
    #expect(Set(codes.keys).isSubset(of: [nil, .cancelled, .rejected, .connectionLost]), "\(codes)")
    // Proves that the soak test is effective: every kind of event has happened often.
    #expect(books.orders.count > 100 && books.tickets.count > 50)
    #expect(books.refreshes.count > 2 && books.unauthorized > 3)
    #expect((codes[nil] ?? 0) > 300 && (codes[.cancelled] ?? 0) > 10 && (codes[.rejected] ?? 0) > 10, "\(codes)")
  }
}
#endif
