/// The course of an upload: which request comes next, and what its result means. A pure state machine.
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
    /// Whether creating an upload twice does no harm.
    var repeatsCreation = true
    /// Whether the upload starts over if the server no longer knows it.
    var restartsWhenGone = true
    /// The number of times in a row that the upload continues without another byte on the server.
    var continuations = 5
  }

  /// The upload on the server. `nil` until it is created.
  private(set) var ticket: UploadTicket?
  /// The parts that the server has, as far as it has said so.
  private(set) var stored = StoredParts()
  private let length: Int64
  private let rules: Rules
  /// Whether ``stored`` matches the server.
  private var isLocated = false
  private var interruptions = 0
  private var restarts = 0
  /// The number of times in a row that the server's parts were not known although a request succeeded.
  private var doubts = 0
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

  /// The part to send while others are being sent. `nil`: there is none.
  func nextPart(besides sending: [Range<Int64>]) -> Range<Int64>? {
    guard let ticket, isLocated else { return nil }
    var taken = stored
    for part in sending { _ = taken.insert(StoredParts.Part(part)) }
    return taken.firstGap(of: length).map { ticket.part(of: $0) }
  }

  /// The upload exists on the server, which may have more or less than is known.
  mutating func note(_ ticket: UploadTicket) {
    (self.ticket, isLocated) = (ticket, false)
  }

  /// The upload exists on the server with these parts and limits, which may have changed with a part. Returns `false` as
  /// ``locate(_:)`` or ``send(_:)``.
  mutating func create(_ ticket: UploadTicket, _ parts: StoredParts) -> Bool {
    let isNew = self.ticket == nil || !isLocated
    self.ticket = ticket
    return isNew ? locate(parts) : send(parts)
  }

  /// The server was asked, and has these parts. Returns `false` if it cannot have them.
  mutating func locate(_ parts: StoredParts) -> Bool {
    guard parts.end <= length else { return false }
    (stored, isLocated) = (parts, true)
    if parts.count > highest {
      highest = parts.count
      (interruptions, doubts) = (0, 0)
    }
    return true
  }

  /// A part was sent, and the server has these parts. Returns `false` if it cannot have them, or took no bytes more
  /// than five times in a row.
  mutating func send(_ parts: StoredParts) -> Bool {
    let before = highest
    guard locate(parts) else { return false }
    if highest == before { doubts += 1 }
    return doubts <= Self.doubtLimit
  }

  /// The server's parts are not known. Returns `false` if that happens more than five times in a row.
  mutating func doubt() -> Bool {
    isLocated = false
    doubts += 1
    return doubts <= Self.doubtLimit
  }

  /// The server does not know the upload. Returns whether the upload starts over.
  mutating func lose() -> Bool {
    (ticket, stored, isLocated, highest) = (nil, StoredParts(), false, 0)
    restarts += 1
    return rules.restartsWhenGone && restarts <= Self.restartLimit
  }

  /// A call failed. Returns the number of the continuation to start, from 1, or `nil` if the upload ends.
  ///
  /// - Parameter isTemporary: whether the same call may succeed.
  mutating func interrupt(isTemporary: Bool) -> Int? {
    isLocated = false
    guard isTemporary, ticket != nil || rules.repeatsCreation, interruptions < rules.continuations else { return nil }
    interruptions += 1
    return interruptions
  }

  /// How often a server may forget the upload.
  private static let restartLimit = 2
  /// How often in a row a server may respond without progress.
  private static let doubtLimit = 5
}
