import ApusCore

/// The progress of one exchange on its connection, regardless of the protocol. A pure state machine.
struct ExchangeProgress {
  enum Request {
    /// No byte was written.
    case unsent
    /// Some bytes were written to the socket.
    case begun
    case complete
    /// Some bytes were written, and no more follow: the server has responded with an error, or without requesting the
    /// withheld content.
    case stopped
  }

  enum Response {
    case nothing
    /// Bytes have arrived, but no final head.
    case begun
    /// The final head has arrived.
    case head
    /// The whole response has arrived before the whole request was sent.
    case completeEarly
  }

  /// The progress that must happen within a timeout.
  enum Awaited: Equatable {
    /// Bytes of the request must leave.
    case progress
    /// The server must send the head of its response, or content of it.
    case head, content
  }

  private(set) var request = Request.unsent
  private(set) var response = Response.nothing
  /// Whether reading is paused because the reader has not consumed the bytes that were read.
  private(set) var isPaused = false
  /// The number of request bytes that had not left at the last ``measured(unsent:)``, plus the bytes written since.
  private(set) var unsent = 0
  /// Whether the head of a successful response (2xx) arrived before the whole request was sent.
  private var isEarlySuccess = false

  var requestState: RequestState {
    switch (response, request) {
    case (.head, _), (.completeEarly, _): .responded
    case (_, .unsent): .notSent
    case (_, .begun), (_, .complete), (_, .stopped): .maybeSent
    }
  }

  /// Whether the final head has arrived.
  var hasHead: Bool { response == .head || response == .completeEarly }

  /// Whether content of the request may still be written.
  var isSending: Bool { request == .begun }

  /// Whether the server responded with success although part of the request is not sent.
  var isIncomplete: Bool { isEarlySuccess && request != .complete }

  /// The progress that must happen within its timeout now; `nil` while content is still being produced or the reader is
  /// slow.
  ///
  /// While request bytes are unsent, only their progress is awaited, because a server need not respond before it has
  /// the whole request. This rule applies even after the head of the response has arrived. A slow reader of the
  /// response is the exception, because the server may be waiting for the reader. After the whole response, content
  /// must be produced in time, too, because its producer may be waiting for the end of the exchange.
  var awaited: Awaited? {
    guard !isPaused else { return nil }
    if request == .stopped { return .content }
    if unsent > 0 || response == .completeEarly { return .progress }
    guard request == .complete else { return nil }
    return response == .head ? .content : .head
  }

  // MARK: The request

  /// Begins to write the request: from now on the server may have received part of it.
  mutating func requestBegun() {
    request = .begun
  }

  /// Adds bytes written to the connection, which may buffer them.
  mutating func wrote(_ count: Int) {
    unsent += count
  }

  /// Updates the number of the request's bytes that have not left.
  ///
  /// - Returns: whether any bytes have left since the last call.
  mutating func measured(unsent: Int) -> Bool {
    defer { self.unsent = unsent }
    return unsent < self.unsent
  }

  /// Completes the request: the connection has accepted all bytes, of which some may be ``unsent``.
  mutating func requestCompleted() {
    request = .complete
  }

  // MARK: The response

  /// Records that bytes of the response have arrived.
  mutating func bytesArrived() {
    if response == .nothing { response = .begun }
  }

  /// Records the head of the final response. Returns whether the head arrived before the request was complete. If so,
  /// more content is sent only while ``isSending`` is `true`.
  ///
  /// - Parameters:
  ///   - isSuccess: whether the status is 2xx. Evaluated only if the request is not complete.
  ///   - isContentHeld: whether the content is withheld until the server sends 100 (Continue). Evaluated only if the
  ///     request is not complete.
  mutating func headArrived(isSuccess: @autoclosure () -> Bool, isContentHeld: @autoclosure () -> Bool) -> Bool {
    response = .head
    guard request == .begun else { return false }
    isEarlySuccess = isSuccess()
    // A server that responds with success before 100 (Continue) does not need the content either.
    if !isEarlySuccess || isContentHeld() { request = .stopped }
    return true
  }

  /// Completes the response while the request is still being sent.
  mutating func responseCompleted() {
    response = .completeEarly
  }

  /// Ends the request, because the server needs no more of it although its response is a success.
  mutating func requestDeclined() {
    (request, isEarlySuccess) = (.stopped, false)
  }

  // MARK: Back-pressure

  /// Pauses reading. Returns `false` if reading was paused already.
  mutating func pause() -> Bool {
    defer { isPaused = true }
    return !isPaused
  }

  /// Resumes reading. Returns `false` if reading was not paused.
  mutating func resume() -> Bool {
    defer { isPaused = false }
    return isPaused
  }
}
