import HTTPTypes

/// The shared exchanges in flight, by what their calls have in common: a pure state machine.
struct FlightTable<Key: Hashable, Flight: AnyObject> {
  /// What a call does.
  enum Entry {
    /// It waits for this exchange in flight.
    case joined(Flight)
    /// It starts this exchange. There may have been another that it could not join.
    case began(Flight, insteadOf: Flight?)
    /// It has an exchange of its own, because too many are in flight.
    case alone
  }

  /// The exchange that began last, for each key.
  private var flights: [Key: Flight] = [:]
  /// The number of exchanges in flight, including those that can no longer be joined.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 && flights.isEmpty }

  /// Enters a call.
  ///
  /// - Parameters:
  ///   - key: what calls must have in common to share an exchange.
  ///   - limit: the most exchanges in flight.
  ///   - join: asks an exchange to let the call join.
  ///   - make: makes an exchange that the call has joined.
  mutating func enter(_ key: Key, limit: Int, join: (Flight) -> Bool, make: () -> Flight) -> Entry {
    let running = flights[key]
    if let running, join(running) { return .joined(running) }
    guard count < limit else { return .alone }
    let flight = make()
    flights[key] = flight
    count += 1
    return .began(flight, insteadOf: running)
  }

  /// Removes an exchange that is over. Called once for each that began.
  mutating func end(_ flight: Flight, _ key: Key) {
    count -= 1
    if flights[key] === flight { flights[key] = nil }
  }
}

extension FlightTable: Sendable where Key: Sendable, Flight: Sendable {}
extension FlightTable.Entry: Sendable where Flight: Sendable {}

/// How far the response of an exchange may have come for another call to join.
struct FlightTerms: Sendable, Hashable {
  /// Calls with a common id join at any time.
  static let named = FlightTerms(bytes: .max, takesNoStore: true)

  /// The most bytes that may have arrived or be announced.
  let bytes: Int64
  /// Whether a response with `no-store` may have begun.
  let takesNoStore: Bool

  /// Whether another call may join.
  func admit(at progress: AnswerProgress) -> Bool {
    progress.bytes <= bytes && (takesNoStore || !progress.isNoStore)
  }
}

/// How far a response has come, as far as it matters for joining.
struct AnswerProgress: Sendable, Hashable {
  /// The bytes that have arrived or are announced.
  var bytes: Int64 = 0
  /// Whether the head has arrived and forbids storing the response (RFC 9111 §5.2.2.5).
  var isNoStore = false
}

extension AnswerProgress {
  /// Reads the progress of a response.
  ///
  /// - Parameters:
  ///   - head: the response head; `nil`: it has not arrived.
  ///   - received: the bytes of content that have arrived.
  init(_ head: HTTPResponse?, received: Int64) {
    bytes = received
    guard let fields = head?.headerFields else { return }
    bytes = max(received, fields[.contentLength].flatMap { Int64($0) } ?? 0)
    isNoStore = fields[values: .cacheControl].contains(where: Self.hasNoStore)
  }

  private static func hasNoStore(_ line: String) -> Bool {
    line.utf8.split(separator: UInt8(ascii: ",")).contains { directive in
      directive.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }.lowercasedEqual("no-store".utf8)
    }
  }
}

extension CallState {
  /// How far the response of this call's exchange has come.
  var answerProgress: AnswerProgress {
    // Until the next exchange begins, head and bytes are those of a failed attempt. A call that has ended does not learn of
    // the next exchange: there the last response counts.
    if phase == .waiting, !isEnded { return AnswerProgress() }
    return AnswerProgress(head, received: receivedBytes)
  }
}
