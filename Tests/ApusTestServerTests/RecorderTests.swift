import Testing

@testable import ApusTestServer

@Suite struct RecorderTests {
  private let recorder = Recorder(contentLimit: 10)
  private let head = RequestParser.Head(method: "GET", target: "/", version: "HTTP/1.1")

  @Test("A response whose last bytes could not be sent is not recorded as answered")
  func lastBytesFail() throws {
    let exchange = try #require(recorder.began(head, connection: 0))
    recorder.finish(exchange, .replied)
    #expect(!recorder.record.exchanges[exchange].isSettled)
    recorder.closed(0)
    recorder.settle(exchange, failure: .clientClosed)
    #expect(recorder.record.exchanges[exchange].outcome == .clientClosed)
    #expect(recorder.record.exchanges[exchange].isSettled)
    #expect(recorder.record.inFlight == 0)
  }

  @Test("A shutdown can keep the last bytes of a response from being sent")
  func lastBytesAtShutDown() throws {
    let exchange = try #require(recorder.began(head, connection: 0))
    recorder.finish(exchange, .replied)
    _ = recorder.closeAll(.shutDown, isShutDown: true)
    recorder.settle(exchange, failure: .clientClosed)
    #expect(recorder.record.exchanges[exchange].outcome == .shutDown)
  }

  @Test("A response that is cut is recorded before the client can see the end of the connection")
  func lastBytesAreCut() throws {
    let exchanges = try (0..<2).map { try #require(recorder.began(head, connection: $0)) }
    recorder.finish(exchanges[0], .replied)
    for connection in 0..<2 { recorder.cut(connection) }
    #expect(exchanges.map { recorder.record.exchanges[$0].outcome } == [.serverClosed, .serverClosed])
    #expect(recorder.record.inFlight == 0)
    recorder.settle(exchanges[0], failure: .clientClosed)
    #expect(recorder.record.exchanges[exchanges[0]].outcome == .serverClosed)

    let whole = try #require(recorder.began(head, connection: 2))
    recorder.finish(whole, .replied)
    recorder.settle(whole, failure: nil)
    recorder.cut(2)
    #expect(recorder.record.exchanges[whole].outcome == .replied)
  }

  @Test("Only the connection's end settles a response that failed in flight")
  func failsInFlight() throws {
    let exchange = try #require(recorder.began(head, connection: 0))
    recorder.settle(exchange, failure: .clientClosed)
    #expect(!recorder.record.exchanges[exchange].isSettled)
    recorder.closed(0)
    #expect(recorder.record.exchanges[exchange].outcome == .clientClosed)
    #expect(recorder.record.exchanges[exchange].isSettled)
  }

  @Test("Forgetting removes settled exchanges up to the first unsettled, keeps the numbers and ignores later events")
  func forgetting() throws {
    let numbers = try (0..<4).map { try #require(recorder.began(head, connection: $0)) }
    for number in numbers where number != 2 {
      recorder.finish(number, .replied)
      recorder.settle(number, failure: nil)
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

  @Test("No exchange starts after a shutdown")
  func nothingBegins() {
    _ = recorder.closeAll(.shutDown, isShutDown: true)
    #expect(recorder.began(head, connection: 0) == nil)
    #expect(recorder.record.exchanges.isEmpty)
  }
}
