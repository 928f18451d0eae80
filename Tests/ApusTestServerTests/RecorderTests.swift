import Testing

@testable import ApusTestServer

@Suite struct RecorderTests {
  private let recorder = Recorder(contentLimit: 10)
  private let head = RequestParser.Head(method: "GET", target: "/", version: "HTTP/1.1")

  @Test("A reply whose last bytes could not be sent is not recorded as replied")
  func lastBytesFail() throws {
    let exchange = try #require(recorder.began(head, connection: 0))
    recorder.finish(exchange, .replied)
    #expect(!recorder.record.exchanges[exchange].isFinal)
    recorder.closed(0)
    recorder.finalize(exchange, failure: .clientClosed)
    #expect(recorder.record.exchanges[exchange].outcome == .clientClosed)
    #expect(recorder.record.exchanges[exchange].isFinal)
    #expect(recorder.record.inFlight == 0)
  }

  @Test("A reply whose last bytes are not sent because of a shutdown is recorded as shut down")
  func lastBytesAtShutDown() throws {
    let exchange = try #require(recorder.began(head, connection: 0))
    recorder.finish(exchange, .replied)
    _ = recorder.closeAll(.shutDown, isShutDown: true)
    recorder.finalize(exchange, failure: .clientClosed)
    #expect(recorder.record.exchanges[exchange].outcome == .shutDown)
  }

  @Test("A reply that is cut is recorded before the client can detect the end of the connection")
  func lastBytesAreCut() throws {
    let exchanges = try (0..<2).map { try #require(recorder.began(head, connection: $0)) }
    recorder.finish(exchanges[0], .replied)
    for connection in 0..<2 { recorder.cut(connection) }
    #expect(exchanges.map { recorder.record.exchanges[$0].outcome } == [.serverClosed, .serverClosed])
    #expect(recorder.record.inFlight == 0)
    recorder.finalize(exchanges[0], failure: .clientClosed)
    #expect(recorder.record.exchanges[exchanges[0]].outcome == .serverClosed)

    let whole = try #require(recorder.began(head, connection: 2))
    recorder.finish(whole, .replied)
    recorder.finalize(whole, failure: nil)
    recorder.cut(2)
    #expect(recorder.record.exchanges[whole].outcome == .replied)
  }

  @Test("The outcome of a reply that fails in flight becomes final only at the end of the connection")
  func failsInFlight() throws {
    let exchange = try #require(recorder.began(head, connection: 0))
    recorder.finalize(exchange, failure: .clientClosed)
    #expect(!recorder.record.exchanges[exchange].isFinal)
    recorder.closed(0)
    #expect(recorder.record.exchanges[exchange].outcome == .clientClosed)
    #expect(recorder.record.exchanges[exchange].isFinal)
  }

  @Test(
    "Forgetting removes finished exchanges up to the first unfinished one, preserves numbers and ignores later events")
  func forgetting() throws {
    let numbers = try (0..<4).map { try #require(recorder.began(head, connection: $0)) }
    for number in numbers where number != 2 {
      recorder.finish(number, .replied)
      recorder.finalize(number, failure: nil)
    }
    recorder.forgetSettled()
    #expect(recorder.record.exchanges.map(\.id) == [2, 3])
    recorder.received([1, 2], of: 0)
    recorder.finish(0, .serverReset)
    recorder.closed(1)
    recorder.ended(2, .serverReset)
    recorder.forgetSettled()
    #expect(recorder.record.exchange(2)?.outcome == .serverReset)
    recorder.closed(2)
    #expect(recorder.record.inFlight == 0)
    recorder.forgetSettled()
    #expect(recorder.record.exchanges.isEmpty)
    #expect(recorder.request(of: 3) == nil)
    #expect(recorder.began(head, connection: 3) == 4)
  }

  @Test("No exchange is recorded after a shutdown")
  func nothingBegins() {
    _ = recorder.closeAll(.shutDown, isShutDown: true)
    #expect(recorder.began(head, connection: 0) == nil)
    #expect(recorder.record.exchanges.isEmpty)
  }
}
