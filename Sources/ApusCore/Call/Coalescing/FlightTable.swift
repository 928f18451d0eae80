import HTTPTypes

/// The shared exchanges in flight, by key. A pure state machine.
struct FlightTable<Key: Hashable, Flight: AnyObject> {
  /// The exchange that a call was assigned to.
  enum Entry {
    /// The call waits for this exchange in flight.
    case joined(Flight)
    /// The call starts this exchange. `insteadOf` is the exchange in flight that the call could not join, if any.
    case began(Flight, insteadOf: Flight?)
    /// The call has its own exchange, because too many shared exchanges are in flight.
    case alone
  }

  /// The latest exchange for each key.
  private var flights: [Key: Flight] = [:]
  /// The number of exchanges in flight, including those that can no longer be joined.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 && flights.isEmpty }

  /// Adds a call to the exchange in flight for its key, or begins an exchange.
  ///
  /// - Parameters:
  ///   - key: the properties that calls must have in common to share an exchange.
  ///   - limit: the maximum number of exchanges in flight.
  ///   - join: adds the call to an exchange, or returns `false`.
  ///   - make: creates an exchange that the call has joined.
  mutating func enter(_ key: Key, limit: Int, join: (Flight) -> Bool, make: () -> Flight) -> Entry {
    let running = flights[key]
    if let running, join(running) { return .joined(running) }
    guard count < limit else { return .alone }
    let flight = make()
    flights[key] = flight
    count += 1
    return .began(flight, insteadOf: running)
  }

  /// Removes an exchange that has ended. Called once for each exchange.
  mutating func end(_ flight: Flight, _ key: Key) {
    count -= 1
    if flights[key] === flight { flights[key] = nil }
  }
}

extension FlightTable: Sendable where Key: Sendable, Flight: Sendable {}
extension FlightTable.Entry: Sendable where Flight: Sendable {}

/// The response progress up to which another call may join an exchange.
struct FlightTerms: Sendable, Hashable {
  /// The terms for calls with a common id, which join at any time.
  static let named = FlightTerms(bytes: .max, joinsNoStore: true)

  /// The maximum number of bytes that have arrived or are announced.
  let bytes: Int64
  /// Whether calls may join a response with `no-store`.
  let joinsNoStore: Bool

  /// Whether another call may join.
  func admit(at progress: ResponseProgress) -> Bool {
    progress.bytes <= bytes && (joinsNoStore || !progress.isNoStore)
  }
}

/// The progress of a response, as far as it determines whether calls may join.
struct ResponseProgress: Sendable, Hashable {
  /// The bytes that have arrived or are announced.
  var bytes: Int64 = 0
  /// Whether the head has arrived and forbids storing the response (RFC 9111 §5.2.2.5).
  var isNoStore = false
}

extension ResponseProgress {
  /// Reads the progress of a response.
  ///
  /// - Parameters:
  ///   - head: the response head, or `nil` if it has not arrived.
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
  /// The progress of the response of this call's exchange.
  var responseProgress: ResponseProgress {
    // Until the next exchange begins, head and bytes belong to a failed attempt. A call that has ended does not record
    // the next exchange, so the head and bytes of its last response are used.
    if phase == .waiting, !isEnded { return ResponseProgress() }
    return ResponseProgress(head, received: receivedBytes)
  }
}
