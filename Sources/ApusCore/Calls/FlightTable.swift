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
