#if NIO
  import NIOCore

  /// Everything the server remembers, and the only state its connections share.
  final class Recorder: Sendable {
    struct Record: Sendable {
      /// Those that are remembered, in the order of their numbers, from ``firstNumber`` on.
      private(set) var exchanges: [Exchange] = []
      private var firstNumber = 0
      var rejections: [Rejection] = []
      var failures: [ConnectionFailure] = []
      var accepted = 0
      var channels: [Int: any Channel] = [:]
      /// The last exchange of each open connection.
      var latest: [Int: Int] = [:]
      var inFlight = 0
      var peakInFlight = 0
      var isShutDown = false

      /// The number of the next.
      var nextNumber: Int { firstNumber + exchanges.count }

      mutating func append(_ exchange: Exchange) {
        exchanges.append(exchange)
      }

      /// One that is remembered.
      func exchange(_ number: Int) -> Exchange? {
        index(of: number).map { exchanges[$0] }
      }

      /// Changes one, unless it was forgotten.
      mutating func update(_ number: Int, _ change: (inout Exchange) -> Void) {
        if let index = index(of: number) { change(&exchanges[index]) }
      }

      private func index(of number: Int) -> Int? {
        exchanges.indices.contains(number - firstNumber) ? number - firstNumber : nil
      }

      mutating func finish(_ exchange: Int, _ outcome: Exchange.Outcome) {
        guard self.exchange(exchange)?.outcome == .inFlight else { return }
        update(exchange) { $0.outcome = outcome }
        inFlight -= 1
      }

      mutating func forgetSettled() {
        let count = exchanges.firstIndex { !isSettled($0) } ?? exchanges.count
        exchanges.removeFirst(count)
        firstNumber += count
      }

      /// Whether nothing becomes of an exchange any more that anybody would wait for.
      private func isSettled(_ exchange: Exchange) -> Bool {
        exchange.isSettled || (exchange.outcome != .inFlight && latest[exchange.request.connection] != exchange.id)
      }

      mutating func finishAll(_ outcome: Exchange.Outcome) {
        for exchange in latest.values { finish(exchange, outcome) }
      }
    }

    private let watched = Watched(Record())
    private let contentCap: Int

    init(contentCap: Int) {
      self.contentCap = contentCap
    }

    var record: Record { watched.state }

    func first<Found>(_ find: (Record) throws -> Found?) async throws -> Found {
      try await watched.first(find)
    }

    // MARK: Connections

    /// Takes in a new connection; it has to be closed at once when the server is shut down already.
    func opened(_ channel: any Channel) -> (connection: Int, isShutDown: Bool) {
      watched.update { record in
        record.accepted += 1
        record.channels[record.accepted - 1] = channel
        return (record.accepted - 1, record.isShutDown)
      }
    }

    func closed(_ connection: Int) {
      watched.update { record in
        record.channels[connection] = nil
        guard let exchange = record.latest.removeValue(forKey: connection) else { return }
        // What has an outcome already is settled by its answer, which may yet find that its last bytes did not leave.
        guard record.exchange(exchange)?.outcome == .inFlight else { return }
        record.finish(exchange, .clientClosed)
        record.update(exchange) { $0.isSettled = true }
      }
    }

    /// The server is about to end a connection: an exchange in flight on it ends so.
    func ended(_ connection: Int, _ outcome: Exchange.Outcome) {
      watched.update { record in
        if let exchange = record.latest[connection] { record.finish(exchange, outcome) }
      }
    }

    /// Some of what is being sent does not leave: an exchange that counted as answered, as long as its last bytes were
    /// on their way, is none.
    func cut(_ connection: Int) {
      watched.update { record in
        guard let exchange = record.latest[connection] else { return }
        record.finish(exchange, .serverClosed)
        record.update(exchange) {
          if $0.outcome == .answered, !$0.isSettled { $0.outcome = .serverClosed }
        }
      }
    }

    /// Marks every exchange in flight with `outcome` and returns the connections, to be closed by the caller.
    func closeAll(_ outcome: Exchange.Outcome, isShutDown: Bool) -> [any Channel] {
      watched.update { record in
        record.finishAll(outcome)
        record.isShutDown = record.isShutDown || isShutDown
        return Array(record.channels.values)
      }
    }

    // MARK: Exchanges

    /// Records a request's head; `nil` when the server is shut down, and nobody wants to know any more.
    func began(_ head: RequestParser.Head, connection: Int) -> Int? {
      watched.update { record in
        guard !record.isShutDown else { return nil }
        let number = record.nextNumber
        let request = RecordedRequest(
          number: number, connection: connection, method: head.method, target: head.target, version: head.version,
          fields: head.fields)
        record.latest[connection] = number
        record.append(Exchange(request: request, arrival: .now))
        record.inFlight += 1
        record.peakInFlight = max(record.peakInFlight, record.inFlight)
        return number
      }
    }

    func received(_ content: ArraySlice<UInt8>, of exchange: Int) {
      watched.update { record in
        record.update(exchange) {
          let room = contentCap - $0.request.content.count
          $0.request.content.append(contentsOf: content.prefix(max(room, 0)))
          $0.request.contentLength += content.count
          $0.request.digest.update(with: content)
        }
      }
    }

    func completed(_ exchange: Int, trailers: FieldLines) {
      watched.update { record in
        record.update(exchange) {
          $0.request.trailers = trailers
          $0.request.isComplete = true
        }
      }
    }

    func request(of exchange: Int) -> RecordedRequest? {
      watched.read { $0.exchange(exchange)?.request }
    }

    func sentStatus(_ status: Int, of exchange: Int) {
      watched.update { record in record.update(exchange) { $0.status = status } }
    }

    func finish(_ exchange: Int, _ outcome: Exchange.Outcome) {
      watched.update { $0.finish(exchange, outcome) }
    }

    /// The last bytes have left, or have failed to: the outcome is what it is.
    func settle(_ exchange: Int, failure: Exchange.Outcome?) {
      watched.update { record in
        let isShutDown = record.isShutDown
        record.update(exchange) {
          if let failure, $0.outcome == .answered { $0.outcome = isShutDown ? .shutDown : failure }
          $0.isSettled = $0.outcome != .inFlight
        }
      }
    }

    func forgetSettled() {
      watched.update { $0.forgetSettled() }
    }

    func failed(_ error: any Error, connection: Int) {
      watched.update { $0.failures.append(ConnectionFailure(connection: connection, reason: "\(error)")) }
    }

    func rejected(_ reason: String, connection: Int) {
      watched.update { $0.rejections.append(Rejection(connection: connection, reason: reason)) }
    }
  }
#endif
