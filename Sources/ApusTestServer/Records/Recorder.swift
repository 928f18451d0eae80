import ApusWaiting
import NIOCore

/// The records of a server: the only state that its connections share.
final class Recorder: Sendable {
  struct Record: Sendable {
    /// The exchanges that were not forgotten, ordered by number; the first has ``firstNumber``.
    private(set) var exchanges: [RecordedExchange] = []
    private var firstNumber = 0
    var rejections: [ConnectionFailure] = []
    var failures: [ConnectionFailure] = []
    var accepted = 0
    var channels: [Int: any Channel] = [:]
    /// The number of the latest exchange of each open connection.
    var latest: [Int: Int] = [:]
    var inFlight = 0
    var peakInFlight = 0
    var isShutDown = false

    /// The number of the next exchange.
    var nextNumber: Int { firstNumber + exchanges.count }

    mutating func append(_ exchange: RecordedExchange) {
      exchanges.append(exchange)
    }

    /// Returns the exchange with a number, or `nil` if it was forgotten or does not exist.
    func exchange(_ number: Int) -> RecordedExchange? {
      index(of: number).map { exchanges[$0] }
    }

    /// Changes an exchange, unless it was forgotten.
    mutating func update(_ number: Int, _ change: (inout RecordedExchange) -> Void) {
      if let index = index(of: number) { change(&exchanges[index]) }
    }

    private func index(of number: Int) -> Int? {
      exchanges.indices.contains(number - firstNumber) ? number - firstNumber : nil
    }

    mutating func finish(_ exchange: Int, _ outcome: RecordedExchange.Outcome) {
      guard self.exchange(exchange)?.outcome == .inFlight else { return }
      update(exchange) { $0.outcome = outcome }
      inFlight -= 1
    }

    mutating func forgetSettled() {
      let count = exchanges.firstIndex { !isFinal($0) } ?? exchanges.count
      exchanges.removeFirst(count)
      firstNumber += count
    }

    /// Whether the outcome of an exchange is final, or is followed by another exchange on its connection.
    private func isFinal(_ exchange: RecordedExchange) -> Bool {
      exchange.isFinal || (exchange.outcome != .inFlight && latest[exchange.request.connection] != exchange.id)
    }

    mutating func finishAll(_ outcome: RecordedExchange.Outcome) {
      for exchange in latest.values { finish(exchange, outcome) }
    }
  }

  private let monitor = Monitor(Record())
  private let contentLimit: Int

  init(contentLimit: Int) {
    self.contentLimit = contentLimit
  }

  var record: Record { monitor.state }

  func first<Found>(_ find: (Record) throws -> Found?) async throws -> Found {
    try await monitor.value(where: find)
  }

  // MARK: Connections

  /// Records a new connection. The caller must close the connection if the server is already shut down.
  func opened(_ channel: any Channel) -> (connection: Int, isShutDown: Bool) {
    monitor.update { record in
      record.accepted += 1
      record.channels[record.accepted - 1] = channel
      return (record.accepted - 1, record.isShutDown)
    }
  }

  func closed(_ connection: Int) {
    monitor.update { record in
      record.channels[connection] = nil
      guard let exchange = record.latest.removeValue(forKey: connection) else { return }
      // The response writer finalizes any other outcome, because the last bytes may still fail to be sent.
      guard record.exchange(exchange)?.outcome == .inFlight else { return }
      record.finish(exchange, .clientClosed)
      record.update(exchange) { $0.isFinal = true }
    }
  }

  /// Records that the server is about to end a connection. Ends the exchange in flight on the connection.
  func ended(_ connection: Int, _ outcome: RecordedExchange.Outcome) {
    monitor.update { record in
      if let exchange = record.latest[connection] { record.finish(exchange, outcome) }
    }
  }

  /// Records that a connection was cut. An exchange that is recorded as replied while its last bytes are being sent
  /// gets the outcome `serverClosed`.
  func cut(_ connection: Int) {
    monitor.update { record in
      guard let exchange = record.latest[connection] else { return }
      record.finish(exchange, .serverClosed)
      record.update(exchange) {
        if $0.outcome == .replied, !$0.isFinal { $0.outcome = .serverClosed }
      }
    }
  }

  /// Ends every exchange in flight with `outcome` and returns the connections for the caller to close.
  func closeAll(_ outcome: RecordedExchange.Outcome, isShutDown: Bool) -> [any Channel] {
    monitor.update { record in
      record.finishAll(outcome)
      record.isShutDown = record.isShutDown || isShutDown
      return Array(record.channels.values)
    }
  }

  // MARK: Exchanges

  /// Records a request's head and returns the number of its exchange, or `nil` if the server is shut down.
  func began(_ head: RequestParser.Head, connection: Int) -> Int? {
    monitor.update { record in
      guard !record.isShutDown else { return nil }
      let number = record.nextNumber
      let request = RecordedRequest(
        number: number, connection: connection, method: head.method, target: head.target, version: head.version,
        fields: head.fields)
      record.latest[connection] = number
      record.append(RecordedExchange(request: request, arrival: .now))
      record.inFlight += 1
      record.peakInFlight = max(record.peakInFlight, record.inFlight)
      return number
    }
  }

  func received(_ content: ArraySlice<UInt8>, of exchange: Int) {
    monitor.update { record in
      record.update(exchange) {
        let room = contentLimit - $0.request.content.count
        $0.request.content.append(contentsOf: content.prefix(max(room, 0)))
        $0.request.contentLength += content.count
        $0.request.digest.update(with: content)
      }
    }
  }

  func completed(_ exchange: Int, trailers: FieldLines) {
    monitor.update { record in
      record.update(exchange) {
        $0.request.trailers = trailers
        $0.request.isComplete = true
      }
    }
  }

  func request(of exchange: Int) -> RecordedRequest? {
    monitor.read { $0.exchange(exchange)?.request }
  }

  func sentStatus(_ status: Int, of exchange: Int) {
    monitor.update { record in record.update(exchange) { $0.status = status } }
  }

  func finish(_ exchange: Int, _ outcome: RecordedExchange.Outcome) {
    monitor.update { $0.finish(exchange, outcome) }
  }

  /// Makes the outcome final once the last bytes were sent, or could not be sent because of `failure`.
  func finalize(_ exchange: Int, failure: RecordedExchange.Outcome?) {
    monitor.update { record in
      let isShutDown = record.isShutDown
      record.update(exchange) {
        if let failure, $0.outcome == .replied { $0.outcome = isShutDown ? .shutDown : failure }
        $0.isFinal = $0.outcome != .inFlight
      }
    }
  }

  func forgetSettled() {
    monitor.update { $0.forgetSettled() }
  }

  func failed(_ error: any Error, connection: Int) {
    monitor.update { $0.failures.append(ConnectionFailure(connection: connection, reason: "\(error)")) }
  }

  func rejected(_ reason: String, connection: Int) {
    monitor.update { $0.rejections.append(ConnectionFailure(connection: connection, reason: reason)) }
  }
}
