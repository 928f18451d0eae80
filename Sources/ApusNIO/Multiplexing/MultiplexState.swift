import NIOCore

/// The connection's side of HTTP/2: which streams may be opened, and what the server's connection frames change (RFC
/// 9113 §5, §6). A pure state machine; ``MultiplexHandler`` performs the results on the connection's loop.
struct MultiplexState: Sendable {
  /// The result of offering an exchange to the connection.
  enum Admission: Equatable {
    /// Open this stream.
    case open(StreamID)
    /// Wait: for a place among the server's concurrent streams, or for proof that the server can still be reached.
    case wait
    /// Return the exchange to the owner: nothing was written, and the connection takes no more exchanges.
    case giveBack
  }

  /// The standing of a stream that carries no exchange.
  enum Standing: Equatable {
    /// The stream was never opened.
    case idle
    /// The client has reset the stream, and the server may have sent frames before it knew; or the server has said that
    /// it does not process the stream. Frames are ignored.
    case reset
    case closed
  }

  /// The result of a timer.
  enum Expiry: Equatable {
    /// The server has not responded to PING: the connection is lost.
    case lost
    /// Send a PING with these data.
    case ping(UInt64)
    case nothing
  }

  /// The number of streams assumed until the server's SETTINGS arrive, as RFC 9113 §6.5.2 recommends at least.
  static let assumedStreams = 100
  /// The number of streams opened at most if the server announces no maximum.
  static let maximumStreams = 1000
  /// The number of resets that the server may leave unanswered before the connection takes no more exchanges.
  static let maximumResets = 100
  /// The number of unread bytes above which the connection takes no more exchanges, and the number at which it takes
  /// exchanges again.
  static let unreadLimit = 8 << 20
  static let unreadRelease = 4 << 20
  /// The time without any byte of the server after which a PING goes out with the next request.
  static let silence = TimeAmount.seconds(10)
  /// The time without any byte of the server after which a request that may not be repeated waits for the response to
  /// the PING.
  static let longSilence = TimeAmount.seconds(60)
  /// The time in which something must arrive after a PING.
  static let answerLimit = TimeAmount.seconds(5)
  /// The minimum interval between PINGs after resets.
  static let resetInterval = TimeAmount.seconds(1)
  /// The number of closed streams that are remembered as reset by the client.
  private static let rememberedResets = 1024

  private(set) var settings = PeerSettings()
  /// The window for request content of all streams.
  var sendWindow = SendWindow(65_535)
  /// The window for response content of all streams.
  var receiveWindow = ConnectionWindow()
  /// The number of open streams.
  private(set) var open = 0
  /// Whether the connection takes no more exchanges.
  private(set) var isDraining = false
  /// Whether the connection is closed or about to be closed.
  private(set) var isOver = false
  /// Whether the connection has completed an exchange.
  private(set) var hasServed = false
  /// The round-trip time, from the client's SETTINGS to their acknowledgement.
  private(set) var roundTrip = TimeAmount.milliseconds(1)

  private var hasSettings = false
  private var nextStream: StreamID
  private var begunAt: NIODeadline?
  private var isOverfull = false
  private var nextPing: UInt64 = 1
  /// The last stream that the server processes (GOAWAY).
  private var lastProcessed = StreamID.max

  /// The instant of the last bytes of the server.
  private var heardAt: NIODeadline
  /// The instant by which bytes must arrive, while a PING is unanswered that tests whether the server can be reached.
  private var answerDue: NIODeadline?

  /// The streams that the client has reset, the oldest first.
  private var resets = CircularBuffer<StreamID>()
  private var isReset: Set<StreamID> = []
  /// The numbers of resets that the last PING covers, and of later ones. The server may still count these streams.
  private var coveredResets = 0
  private var laterResets = 0
  /// The data of the unanswered PING after resets, and the instant of the last one.
  private var resetPing: UInt64?
  private var resetPingAt: NIODeadline?

  /// - Parameter nextStream: the identifier of the first stream. Default: 1.
  init(now: NIODeadline, nextStream: StreamID = 1) {
    heardAt = now
    self.nextStream = nextStream
  }

  // MARK: Capacity

  /// The maximum number of concurrent streams.
  var streamLimit: Int {
    guard hasSettings else { return Self.assumedStreams }
    return settings.maximumStreams.map { min(Int($0), Self.maximumStreams) } ?? Self.maximumStreams
  }

  /// The number of exchanges that the connection carries at most. Streams whose reset the server may not have seen keep
  /// their places.
  var capacity: Int { max(0, streamLimit - coveredResets - laterResets) }

  /// Whether the connection takes no exchanges now: it is draining, or its readers leave too many bytes unread.
  var isSuspended: Bool { isDraining || isOver || isOverfull }

  /// Updates ``isSuspended`` after bytes have arrived or were consumed.
  mutating func measureUnread() {
    isOverfull = receiveWindow.unread > (isOverfull ? Self.unreadRelease : Self.unreadLimit)
  }

  // MARK: Streams

  /// Offers an exchange to the connection. If a PING is due, see ``probe(now:)``, it goes out with the request.
  ///
  /// - Parameter isRepeatable: whether the request may be sent twice without harm. Evaluated only after a long silence.
  mutating func offered(isRepeatable: @autoclosure () -> Bool, now: NIODeadline) -> Admission {
    guard !isDraining, !isOver, streamLimit > 0 else { return .giveBack }
    guard open < capacity else { return .wait }
    guard now - heardAt < Self.longSilence || isRepeatable() else { return .wait }
    let stream = nextStream
    nextStream += 2
    // The last identifier is 2³¹ − 1. Identifiers are not reused (RFC 9113 §5.1.1).
    if nextStream > UInt32(Int32.max) { isDraining = true }
    open += 1
    return .open(stream)
  }

  /// Returns the data of the PING that tests whether the server can still be reached; `nil` if none is due.
  mutating func probe(now: NIODeadline) -> UInt64? {
    guard answerDue == nil, now - heardAt >= Self.silence else { return nil }
    answerDue = now + Self.answerLimit
    return takePing()
  }

  /// Ends a stream that both sides have closed, or that the server has reset.
  mutating func ended() {
    open -= 1
  }

  /// Ends a stream that the client resets.
  ///
  /// - Returns: the data of a PING to send after RST_STREAM, whose acknowledgement proves that the server has seen the
  ///   reset; `nil` if none is due now.
  mutating func reset(_ stream: StreamID, now: NIODeadline) -> UInt64? {
    open -= 1
    remember(stream)
    laterResets += 1
    if coveredResets + laterResets > Self.maximumResets { isDraining = true }
    return pingAfterResets(now: now)
  }

  mutating func exchangeCompleted() {
    hasServed = true
  }

  /// Returns the standing of a stream that carries no exchange.
  func standing(of stream: StreamID) -> Standing {
    if stream >= nextStream { return .idle }
    return isReset.contains(stream) || stream > lastProcessed ? .reset : .closed
  }

  private mutating func remember(_ stream: StreamID) {
    isReset.insert(stream)
    resets.append(stream)
    if resets.count > Self.rememberedResets { isReset.remove(resets.removeFirst()) }
  }

  private mutating func pingAfterResets(now: NIODeadline) -> UInt64? {
    guard resetPing == nil, laterResets > 0, resetPingAt.map({ now - $0 >= Self.resetInterval }) ?? true else {
      return nil
    }
    (coveredResets, laterResets) = (laterResets, 0)
    resetPingAt = now
    resetPing = takePing()
    return resetPing
  }

  private mutating func takePing() -> UInt64 {
    defer { nextPing &+= 1 }
    return nextPing
  }

  // MARK: Frames of the server

  /// Records that the connection preface was sent.
  mutating func begun(now: NIODeadline) {
    begunAt = now
  }

  /// Records that bytes have arrived. Returns whether exchanges that wait may begin now.
  mutating func heard(now: NIODeadline) -> Bool {
    heardAt = now
    defer { answerDue = nil }
    return answerDue != nil
  }

  /// Applies SETTINGS. Returns the number of bytes by which the window of every open stream changes.
  mutating func receive(_ list: [Setting]) throws(FrameViolation) -> Int {
    let window = settings.initialWindowSize
    try settings.take(list)
    hasSettings = true
    return settings.initialWindowSize - window
  }

  mutating func settingsAcknowledged(now: NIODeadline) -> Bool {
    guard let begunAt else { return false }
    roundTrip = max(.microseconds(100), now - begunAt)
    self.begunAt = nil
    return true
  }

  /// Handles the acknowledgement of a PING. Returns whether it was awaited.
  mutating func pingAcknowledged(_ data: UInt64) -> Bool {
    guard data == resetPing else { return data > 0 && data < nextPing }
    resetPing = nil
    coveredResets = 0
    return true
  }

  /// Stops taking exchanges, because the connection should not be used any longer.
  ///
  /// - Parameter last: the last stream that the server processes. Default: all streams.
  mutating func drain(after last: StreamID = .max) {
    isDraining = true
    lastProcessed = min(lastProcessed, last)
  }

  /// Ends the connection. Returns `false` if it has ended already.
  mutating func end() -> Bool {
    defer { isOver = true }
    return !isOver
  }

  // MARK: Time

  /// The instant at which ``expired(now:)`` has something to do; `nil` if there is none.
  var deadline: NIODeadline? {
    let next = laterResets > 0 && resetPing == nil ? resetPingAt.map { $0 + Self.resetInterval } : nil
    guard let answerDue else { return next }
    return next.map { min($0, answerDue) } ?? answerDue
  }

  mutating func expired(now: NIODeadline) -> Expiry {
    if let answerDue, answerDue <= now { return .lost }
    return pingAfterResets(now: now).map { .ping($0) } ?? .nothing
  }
}
