import HTTPTypes

/// One stream: the order of the server's frames, the limits on the response, and the windows in both directions (RFC
/// 9113 §5.1, §8.1). A pure state machine. Its errors are stream errors.
struct StreamState: Sendable {
  /// The meaning of a field block.
  enum Part: Sendable {
    case interim(HTTPResponse)
    /// The final head. `length` is the length of the content; `nil` if it is unknown.
    case head(HTTPResponse, length: Int64?)
    case trailers(HTTPFields)
  }

  let id: StreamID
  /// The progress of the exchange.
  var progress = ExchangeProgress()
  var sendWindow: SendWindow
  var receiveWindow = ReceiveWindow()
  /// Whether the server has ended the stream (END_STREAM).
  private(set) var isResponseOver = false
  private var remainingFieldBytes: Int
  private var remainingFields: Int
  private var remainingInterims: Int
  /// The number of announced content bytes that have not arrived; `nil` if no length is announced.
  private var remainingContent: Int64?
  /// Whether the response has no content, regardless of its fields (RFC 9110 §6.4.1).
  private var hasNoContent: Bool

  /// - Parameters:
  ///   - method: the method of the request.
  ///   - window: the server's initial window for request content.
  init(_ id: StreamID, method: HTTPRequest.Method, window: Int, limits: FramingLimits) {
    self.id = id
    sendWindow = SendWindow(window)
    remainingFieldBytes = limits.fieldBytes
    remainingFields = limits.fieldCount
    remainingInterims = limits.interimCount
    hasNoContent = method == .head
  }

  /// Receives a field block.
  mutating func receive(_ block: FieldBlock, isLast: Bool) throws(FrameViolation) -> Part {
    guard !isResponseOver else { throw .closedStream(.headers, id) }
    try subtract(block)
    progress.bytesArrived()
    do throws(FieldFault) {
      if progress.hasHead { return try trailers(block, isLast: isLast) }
      let head = try block.head()
      return head.status.kind == .informational
        ? try interim(head, isLast: isLast) : try final(head, block.contentLength, isLast: isLast)
    } catch {
      throw .fields(error, id)
    }
  }

  /// The limits apply to the interim heads, the final head and the trailers of a response together.
  private mutating func subtract(_ block: FieldBlock) throws(FrameViolation) {
    remainingFieldBytes -= block.size
    remainingFields -= block.count
    if remainingFieldBytes < 0 { throw .fields(FieldFault(.fieldsTooLarge), id) }
    if remainingFields < 0 { throw .fields(FieldFault(.tooManyFields), id) }
  }

  private mutating func interim(_ head: HTTPResponse, isLast: Bool) throws(FieldFault) -> Part {
    guard !isLast else { throw FieldFault(.finalInterim) }
    remainingInterims -= 1
    guard remainingInterims >= 0 else { throw FieldFault(.tooManyInterims) }
    return .interim(head)
  }

  private mutating func final(_ head: HTTPResponse, _ length: Int64?, isLast: Bool) throws(FieldFault) -> Part {
    if head.status == .noContent || head.status == .notModified { hasNoContent = true }
    if !hasNoContent {
      guard !isLast || (length ?? 0) == 0 else { throw FieldFault(.wrongContentLength) }
      remainingContent = length
    }
    isResponseOver = isLast
    return .head(head, length: hasNoContent || isLast ? 0 : length)
  }

  private mutating func trailers(_ block: FieldBlock, isLast: Bool) throws(FieldFault) -> Part {
    guard isLast else { throw FieldFault(.unfinishedTrailers) }
    guard remainingContent ?? 0 == 0 else { throw FieldFault(.wrongContentLength) }
    isResponseOver = true
    return .trailers(try block.trailers())
  }

  /// Receives content.
  mutating func receive(contentBytes count: Int, isLast: Bool) throws(FrameViolation) {
    guard !isResponseOver else { throw .closedStream(.data, id) }
    guard progress.hasHead else { throw .earlyContent(id) }
    guard count == 0 || !hasNoContent else { throw .unexpectedContent(id) }
    if let rest = remainingContent {
      guard Int64(count) <= rest, !isLast || Int64(count) == rest else {
        throw .fields(FieldFault(.wrongContentLength), id)
      }
      remainingContent = rest - Int64(count)
    }
    if isLast { isResponseOver = true }
  }
}
