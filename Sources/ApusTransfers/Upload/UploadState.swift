/// The state of an upload: selects the next request and interprets its result. A pure state machine.
struct UploadState {
  /// The next action.
  enum Action: Hashable {
    case create
    case locate
    case send(Range<Int64>)
    case finish
  }

  /// The rules of a protocol and of the options.
  struct Rules: Hashable {
    /// Whether creating an upload twice is harmless.
    var repeatsCreation = true
    /// Whether the upload starts over if the server no longer has it.
    var restartsWhenGone = true
    /// The number of times in a row that the upload continues without another byte on the server.
    var continuations = 5
  }

  /// The upload on the server. `nil` until it is created.
  private(set) var ticket: UploadTicket?
  /// The stored parts that the server's responses have stated.
  private(set) var stored = StoredParts()
  private let length: Int64
  private let rules: Rules
  /// Whether ``stored`` is known to match the parts on the server.
  private var isLocated = false
  private var interruptions = 0
  private var restarts = 0
  /// The number of consecutive successful requests that stored no further bytes.
  private var fruitlessResponses = 0
  /// The highest number of stored bytes so far.
  private var highest: Int64 = 0

  init(length: Int64, _ rules: Rules, continuing ticket: UploadTicket? = nil) {
    (self.length, self.rules, self.ticket) = (length, rules, ticket)
  }

  /// The action to perform.
  var next: Action {
    guard let ticket else { return .create }
    guard isLocated else { return .locate }
    guard let gap = stored.firstGap(of: length) else { return .finish }
    return .send(ticket.part(of: gap))
  }

  /// Returns the part to send while other parts are being sent; `nil` if no part is left.
  func nextPart(besides sending: [Range<Int64>]) -> Range<Int64>? {
    guard let ticket, isLocated else { return nil }
    var taken = stored
    for part in sending { _ = taken.insert(StoredParts.Part(part)) }
    return taken.firstGap(of: length).map { ticket.part(of: $0) }
  }

  /// Records that the upload exists on the server. Its stored parts are not known yet.
  mutating func announce(_ ticket: UploadTicket) {
    (self.ticket, isLocated) = (ticket, false)
  }

  /// Records that the upload exists on the server with these parts and limits. The limits may change with each part.
  /// Returns `false` in the cases of ``locate(_:)`` and ``send(_:)``.
  mutating func create(_ ticket: UploadTicket, _ parts: StoredParts) -> Bool {
    let isNew = self.ticket == nil || !isLocated
    self.ticket = ticket
    return isNew ? locate(parts) : send(parts)
  }

  /// Records the parts that the server lists. Returns `false` if they exceed the content.
  mutating func locate(_ parts: StoredParts) -> Bool {
    guard parts.end <= length else { return false }
    (stored, isLocated) = (parts, true)
    if parts.count > highest {
      highest = parts.count
      (interruptions, fruitlessResponses) = (0, 0)
    }
    return true
  }

  /// Records the parts on the server after a part was sent. Returns `false` if they exceed the content, or if the
  /// server accepted no bytes more than five times in a row.
  mutating func send(_ parts: StoredParts) -> Bool {
    let before = highest
    guard locate(parts) else { return false }
    if highest == before { fruitlessResponses += 1 }
    return fruitlessResponses <= Self.fruitlessLimit
  }

  /// Records that the server's parts are not known. Returns `false` if that happens more than five times in a row.
  mutating func recordUnknownParts() -> Bool {
    isLocated = false
    fruitlessResponses += 1
    return fruitlessResponses <= Self.fruitlessLimit
  }

  /// Records that the server no longer has the upload. Returns whether the upload starts over.
  mutating func startOver() -> Bool {
    (ticket, stored, isLocated, highest) = (nil, StoredParts(), false, 0)
    restarts += 1
    return rules.restartsWhenGone && restarts <= Self.restartLimit
  }

  /// Records that a call failed. Returns the number of the continuation to start, from 1, or `nil` if the upload ends.
  ///
  /// - Parameter isTemporary: whether the same call may succeed later.
  mutating func recordInterruption(isTemporary: Bool) -> Int? {
    isLocated = false
    guard isTemporary, ticket != nil || rules.repeatsCreation, interruptions < rules.continuations else { return nil }
    interruptions += 1
    return interruptions
  }

  /// The maximum number of times that the upload starts over.
  private static let restartLimit = 2
  /// The maximum number of consecutive responses without progress.
  private static let fruitlessLimit = 5
}
