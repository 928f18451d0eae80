/// Who has the turn and who waits for it, first come first served: pure; ``Turns`` does what it answers.
struct TurnsState: Hashable {
  typealias Ticket = UInt64

  /// Where somebody is with a ticket.
  enum Place: Hashable {
    case hasTurn
    case waits
    /// Gave up, or gave the turn back.
    case gone
  }

  /// Whose turn it is.
  private(set) var holder: Ticket?
  /// Those who wait, in the order in which they came.
  private(set) var queue: [Ticket] = []
  private var next: Ticket = 0

  func place(of ticket: Ticket) -> Place {
    if holder == ticket { return .hasTurn }
    return queue.contains(ticket) ? .waits : .gone
  }

  /// Somebody comes, and has the turn where nobody else has it.
  mutating func enter() -> Ticket {
    let ticket = next
    next += 1
    if holder == nil { holder = ticket } else { queue.append(ticket) }
    return ticket
  }

  /// Somebody gives the turn back: whose it is now.
  mutating func leave(_ ticket: Ticket) -> Ticket? {
    guard holder == ticket else { return nil }
    holder = queue.isEmpty ? nil : queue.removeFirst()
    return holder
  }

  /// Somebody waits no longer: whether they did. Who has the turn already keeps it until they leave.
  mutating func giveUp(_ ticket: Ticket) -> Bool {
    guard let index = queue.firstIndex(of: ticket) else { return false }
    queue.remove(at: index)
    return true
  }
}
