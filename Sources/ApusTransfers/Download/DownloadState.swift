import ApusCore
import HTTPTypes

/// The state of a download: selects the next request and interprets responses. A pure state machine.
struct DownloadState {
  enum Request: Hashable {
    /// The complete file.
    case whole
    /// The bytes from an offset on, or the complete file if it has changed.
    case rest(from: Int64, ifRange: String)
  }

  /// The step after a response head.
  enum Step: Equatable {
    /// Empty the file and write the content (body). The length is that of the content; `nil` if it is unknown.
    case writeWhole(length: Int64?)
    /// Write this number of bytes at an offset.
    case append(at: Int64, length: Int64)
    /// The content is the complete file, whose first bytes are on disk: write this number of bytes after them.
    case skip(to: Int64, length: Int64)
    /// The bytes on disk are the complete file.
    case complete
    /// Discard the response and request the complete file.
    case requestWhole
    case fail(TransferError.Problem)
  }

  /// The step after the end of a response's content.
  enum Ending: Equatable {
    case complete
    /// Request the missing bytes. The server may send fewer bytes than requested.
    case next
    case fail(TransferError.Problem)
  }

  /// The limits and the permissions of a download.
  struct Rules: Hashable {
    /// Whether the request can be repeated with a range. Ranges are defined for GET only (RFC 9110 §14.2).
    var permitsRanges = true
    /// The maximum size of the file in bytes. `nil`: no maximum.
    var maximumSize: Int64?
    /// The number of times the download continues after an interruption.
    var continuations = 5
  }

  /// The file on the server. `nil` until a response describes it.
  private(set) var representation: Representation?
  /// The number of bytes on disk.
  private(set) var kept: Int64 = 0
  /// Whether an earlier download completed and verified the file, so that no request is sent.
  private(set) var isComplete = false
  private let rules: Rules
  /// Whether the server may serve the rest of the file.
  private var servesRanges = true
  private var requested = Request.whole
  /// The offset at which the present response's content must end.
  private var end: Int64?
  /// Whether the server has responded.
  private(set) var hasResponded = false
  private var hasProgressed = false
  private var interruptions = 0
  /// The number of changes of the file on the server.
  private var changes = 0
  private var ranges = 0

  init(_ rules: Rules) {
    self.rules = rules
  }

  /// Creates the state of a download that continues from a record.
  init(_ rules: Rules, continuing representation: Representation, kept: Int64) {
    self.init(rules)
    guard representation.isResumable, rules.permitsRanges else { return }
    (self.representation, self.kept) = (representation, kept)
  }

  /// Creates the state of a download whose file was completed by an earlier download.
  init(_ rules: Rules, complete representation: Representation) {
    self.init(rules)
    (self.representation, kept, isComplete) = (representation, representation.total ?? 0, true)
  }

  /// Whether another call can continue from the bytes on disk.
  var isResumable: Bool { rules.permitsRanges && representation?.isResumable == true }

  /// Returns the request to send.
  mutating func next() -> Request {
    requested = .whole
    if servesRanges, isResumable, kept > 0, let validator = representation?.validator {
      requested = .rest(from: kept, ifRange: validator.ifRange)
    }
    return requested
  }

  // MARK: Heads

  /// - Parameter isDecoded: whether the transport has decoded the content (body). Its bytes, its length and its ranges
  ///   then differ from those of the server's file.
  mutating func receive(_ head: HTTPResponse, isDecoded: Bool = false) -> Step {
    hasResponded = true
    end = nil
    switch (head.status.code, requested) {
    case (206, .rest(let offset, _)): return isDecoded ? requestWholeKeepingBytes() : receivePart(head, from: offset)
    case (206, .whole): return .fail(.unusableRange)
    case (416, .rest): return receiveUnsatisfied(head)
    case (204, .rest), (205, .rest): return requestWholeKeepingBytes()
    case (204, .whole), (205, .whole): return .fail(.unexpectedStatus(head.status.code))
    case (200..<300, _): return isDecoded ? .fail(.contentCoded) : receiveWhole(head)
    case (_, .rest): return requestWholeKeepingBytes()
    case (_, .whole): return .fail(.unexpectedStatus(head.status.code))
    }
  }

  private mutating func receiveWhole(_ head: HTTPResponse) -> Step {
    var whole = Representation(whole: head)
    if let reason = excess(of: whole.total) { return .fail(reason) }
    if let total = whole.total, isContinued(by: whole) {
      end = total
      return .skip(to: kept, length: total - kept)
    }
    // The validator is useless: no later call could continue either.
    if !servesRanges { whole.validator = nil }
    (representation, kept, end) = (whole, 0, whole.total)
    return .writeWhole(length: whole.total)
  }

  /// Returns whether a complete file is the same file as the file on disk. Adds the digests that the response with the
  /// complete file states.
  private mutating func isContinued(by whole: Representation) -> Bool {
    guard kept > 0, isResumable, whole.isResumable, let known = representation, known.validator == whole.validator,
      known.total == whole.total
    else { return false }
    return add(whole.digests)
  }

  private mutating func receivePart(_ head: HTTPResponse, from offset: Int64) -> Step {
    switch representation?.part(head, from: offset) {
    case .content(let range)?:
      if let reason = excess(of: representation?.total) { return .fail(reason) }
      end = range.upperBound
      return .append(at: range.lowerBound, length: range.upperBound - range.lowerBound)
    case .other?: return discardChangedFile()
    case .unusable?, nil: return requestWholeKeepingBytes()
    }
  }

  /// Records that the server does not serve the rest of the file, so that the complete file is requested. The bytes on
  /// disk remain until the response to that request begins, because the request may fail.
  private mutating func requestWholeKeepingBytes() -> Step {
    abandonRanges()
    return .requestWhole
  }

  /// Stops requesting ranges, because the bytes of a partial response cannot be used.
  mutating func abandonRanges() { servesRanges = false }

  private mutating func receiveUnsatisfied(_ head: HTTPResponse) -> Step {
    guard let text = head.headerFields[.contentRange], case .unsatisfied(let total)? = ContentRange(text),
      let known = representation, total == kept, total == known.total,
      known.validator?.isContradicted(by: head.headerFields) == false
    else { return discardChangedFile() }
    return excess(of: total).map { .fail($0) } ?? .complete
  }

  /// Records that the file has changed: discards the bytes on disk and requests the complete file. Fails after too many
  /// changes.
  mutating func discardChangedFile() -> Step {
    changes += 1
    (representation, kept) = (nil, 0)
    return changes <= Self.changeLimit ? .requestWhole : .fail(.unstable)
  }

  // MARK: Content

  /// Adds digests of the complete file from trailers. Returns `false` if they contradict known digests: the file has
  /// changed.
  mutating func add(_ digests: [FileDigest]) -> Bool { representation?.add(digests) ?? true }

  /// Records the number of contiguous bytes that a download with several ranges left on disk.
  mutating func adopt(_ representation: Representation, kept: Int64) {
    (self.representation, self.kept, hasResponded) = (representation, kept, true)
  }

  /// Returns the reason why content must not extend to an offset; `nil` if the offset is permitted.
  func excess(at offset: Int64) -> TransferError.Problem? {
    offset <= end ?? .max ? excess(of: offset) : .wrongLength
  }

  /// Returns the reason why a file of this size is not downloaded; `nil` if the size is permitted or unknown.
  func excess(of size: Int64?) -> TransferError.Problem? {
    guard let size, let maximum = rules.maximumSize, size > maximum else { return nil }
    return .fileTooLarge(maximum: maximum)
  }

  /// Records that all bytes before an offset are written.
  mutating func reach(_ offset: Int64) {
    if offset > kept { hasProgressed = true }
    kept = offset
  }

  /// Records that all content of a response has arrived.
  mutating func endContent() -> Ending {
    guard let end else { return .complete }
    guard kept == end else { return .fail(.wrongLength) }
    guard let total = representation?.total, kept < total else { return .complete }
    ranges += 1
    return ranges <= Self.rangeLimit ? .next : .fail(.unusableRange)
  }

  /// Records that an exchange failed. Returns the number of the continuation to start, from 1, or `nil` if the download
  /// ends.
  ///
  /// - Parameter isTemporary: whether the same request may succeed later.
  mutating func recordInterruption(isTemporary: Bool) -> Int? {
    guard isTemporary, isResumable, hasProgressed, interruptions < rules.continuations else { return nil }
    interruptions += 1
    hasProgressed = false
    return interruptions
  }

  /// The maximum number of changes of the file on the server during one download.
  private static let changeLimit = 3
  /// The maximum number of responses that contain only a part of the requested range.
  private static let rangeLimit = 1000
}
