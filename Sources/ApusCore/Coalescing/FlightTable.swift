import HTTPTypes

/// Which exchanges are under way that calls share, by what the calls have in common: pure.
struct FlightTable<Key: Hashable, Flight: AnyObject> {
  /// What becomes of a call that comes.
  enum Entry {
    /// It waits for this exchange, which is under way.
    case joined(Flight)
    /// It begins this one; there was another one that it could not join.
    case began(Flight, insteadOf: Flight?)
    /// It has one that nobody shares, since there are so many already.
    case alone
  }

  /// For each key the one that began last.
  private var flights: [Key: Flight] = [:]
  /// How many are under way, those included that nobody can join any more.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 && flights.isEmpty }

  /// A call comes.
  ///
  /// - Parameters:
  ///   - key: what others have in common with it.
  ///   - limit: no more than so many are under way for it to begin another one.
  ///   - join: asks an exchange to take it in.
  ///   - make: makes an exchange that has taken it in.
  mutating func enter(_ key: Key, limit: Int, join: (Flight) -> Bool, make: () -> Flight) -> Entry {
    let running = flights[key]
    if let running, join(running) { return .joined(running) }
    guard count < limit else { return .alone }
    let flight = make()
    flights[key] = flight
    count += 1
    return .began(flight, insteadOf: running)
  }

  /// An exchange is over. Told once of each that began.
  mutating func end(_ flight: Flight, _ key: Key) {
    count -= 1
    if flights[key] === flight { flights[key] = nil }
  }
}

extension FlightTable: Sendable where Key: Sendable, Flight: Sendable {}
extension FlightTable.Entry: Sendable where Flight: Sendable {}

/// How far the answer of an exchange may have come for another call to join it: pure.
struct FlightTerms: Sendable, Hashable {
  /// Calls that name each other take whatever comes of the one that runs.
  static let named = FlightTerms(bytes: .max, takesNoStore: true)

  /// So many bytes may be there or be announced.
  let bytes: Int64
  /// Whether an answer may have begun that is not to be kept for anybody else.
  let takesNoStore: Bool

  /// Whether another call may join.
  func admit(at progress: AnswerProgress) -> Bool {
    progress.bytes <= bytes && (takesNoStore || !progress.isNoStore)
  }
}

/// How far an answer has come, as far as it matters to who joins.
struct AnswerProgress: Sendable, Hashable {
  /// Those that are there, or are announced.
  var bytes: Int64 = 0
  /// Whether its head is there and forbids to keep it (RFC 9111 §5.2.2.5).
  var isNoStore = false
}

extension AnswerProgress {
  /// Takes what is known of an answer.
  ///
  /// - Parameters:
  ///   - head: that of the answer; `nil`: it is not there.
  ///   - received: bytes of its content.
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
  /// How far the answer has come of the exchange that another call may join.
  var answerProgress: AnswerProgress {
    // Until the next exchange begins, what is known is of an attempt that failed. A call that has ended is not told
    // when one begins, so there the last that is known counts.
    if phase == .waiting, !isEnded { return AnswerProgress() }
    return AnswerProgress(head, received: receivedBytes)
  }
}
