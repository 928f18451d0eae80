#if NIO
  import Testing

  @testable import ApusTestServer

  @Suite struct RecorderTests {
    private let recorder = Recorder(contentCap: 10)
    private let head = RequestParser.Head(method: "GET", target: "/", version: "HTTP/1.1")

    @Test("An answer whose last bytes did not leave was not an answer")
    func lastBytesFail() throws {
      let exchange = try #require(recorder.began(head, connection: 0))
      recorder.finish(exchange, .answered)
      #expect(!recorder.record.exchanges[exchange].isSettled)
      recorder.closed(0)
      recorder.settle(exchange, failure: .clientClosed)
      #expect(recorder.record.exchanges[exchange].outcome == .clientClosed)
      #expect(recorder.record.exchanges[exchange].isSettled)
      #expect(recorder.record.inFlight == 0)
    }

    @Test("The last bytes of an answer may fail to leave because of a shut-down")
    func lastBytesAtShutDown() throws {
      let exchange = try #require(recorder.began(head, connection: 0))
      recorder.finish(exchange, .answered)
      _ = recorder.closeAll(.shutDown, isShutDown: true)
      recorder.settle(exchange, failure: .clientClosed)
      #expect(recorder.record.exchanges[exchange].outcome == .shutDown)
    }

    @Test("An answer that is cut on its way is none before anybody can see the connection's end")
    func lastBytesAreCut() throws {
      let exchanges = try (0..<2).map { try #require(recorder.began(head, connection: $0)) }
      recorder.finish(exchanges[0], .answered)
      for connection in 0..<2 { recorder.cut(connection) }
      #expect(exchanges.map { recorder.record.exchanges[$0].outcome } == [.serverClosed, .serverClosed])
      #expect(recorder.record.inFlight == 0)
      recorder.settle(exchanges[0], failure: .clientClosed)
      #expect(recorder.record.exchanges[exchanges[0]].outcome == .serverClosed)

      let whole = try #require(recorder.began(head, connection: 2))
      recorder.finish(whole, .answered)
      recorder.settle(whole, failure: nil)
      recorder.cut(2)
      #expect(recorder.record.exchanges[whole].outcome == .answered)
    }

    @Test("Only the connection's end settles an answer that failed while in flight")
    func failsInFlight() throws {
      let exchange = try #require(recorder.began(head, connection: 0))
      recorder.settle(exchange, failure: .clientClosed)
      #expect(!recorder.record.exchanges[exchange].isSettled)
      recorder.closed(0)
      #expect(recorder.record.exchanges[exchange].outcome == .clientClosed)
      #expect(recorder.record.exchanges[exchange].isSettled)
    }

    @Test("Forgets what is settled up to what is not, keeps the numbers, and is told of what it forgot in vain")
    func forgetting() throws {
      let numbers = try (0..<4).map { try #require(recorder.began(head, connection: $0)) }
      for number in numbers where number != 2 {
        recorder.finish(number, .answered)
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

    @Test("Nothing begins after a shut-down")
    func nothingBegins() {
      _ = recorder.closeAll(.shutDown, isShutDown: true)
      #expect(recorder.began(head, connection: 0) == nil)
      #expect(recorder.record.exchanges.isEmpty)
    }
  }
#endif
