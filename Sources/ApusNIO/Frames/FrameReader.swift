import HTTPTypes
import NIOCore

/// A strict reader of a server's frames (RFC 9113 §4, §6). A value type without channel, clock or lock.
///
/// After each read, call ``next(from:)`` until the function returns `nil`. Except for the boundaries of content pieces,
/// the events do not depend on how the input is split. At most one frame of 16 KiB stays in the buffer, and one field
/// block in the reader. After an error the reader cannot be used again, and the connection can only send GOAWAY.
struct FrameReader: Sendable {
  /// The limits that bound the reader's memory and work.
  struct Limits: Sendable, Hashable {
    /// The maximum number of CONTINUATION frames of a field block. Default: 32.
    var continuations = 32
    /// The maximum number of bytes of a compressed field block. Default: 256 KiB.
    var blockBytes = 256 << 10
    /// The maximum number of consecutive frames without content. Default: 1,000.
    ///
    /// Each byte of sent or received content allows one further frame. A response head resets the count.
    var controlFrames = 1000
    /// The limits on the fields of a field block.
    var framing = FramingLimits()
  }

  /// The maximum length of a frame, which is the default of SETTINGS_MAX_FRAME_SIZE.
  static let maximumFrameSize = 16_384

  private enum Phase: Sendable, Hashable {
    /// The first frame must be SETTINGS.
    case preface
    case header
    /// The payload is read once it is complete.
    case payload(FrameHeader)
    /// The payload of a DATA frame is delivered as it arrives.
    case content(Content)
    /// The payload is ignored as it arrives.
    case skipped(Int)
  }

  /// The rest of a DATA frame.
  private struct Content: Sendable, Hashable {
    let stream: StreamID
    let isLast: Bool
    /// Whether the next byte is the Pad Length.
    var awaitsPadding: Bool
    /// The number of remaining content bytes. Includes the padding until the Pad Length is known.
    var length: Int
    /// The number of remaining padding bytes, after the content.
    var padding = 0
    /// The number of padding bytes that have arrived, including the Pad Length byte.
    var skipped = 0
  }

  /// An unfinished field block that awaits CONTINUATION frames.
  private struct Fragments: Sendable {
    let stream: StreamID
    let isLast: Bool
    var bytes: ByteBuffer
    var count = 0
  }

  private let limits: Limits
  private var phase = Phase.preface
  private var failure: FrameViolation?
  private var decoder = FieldDecoder()
  private var fragments: Fragments?
  private var budget: FloodBudget
  /// The number of fields of the last field block, used as an estimate for the next field block.
  private var expectedFields = 16

  init(limits: Limits = Limits()) {
    self.limits = limits
    budget = FloodBudget(limits.controlFrames)
  }

  /// Records that content was sent. Each byte allows one further frame without content, such as a window update.
  mutating func contentWasSent(_ count: Int) {
    budget.refill(count)
  }

  /// Adds the last frame back to the flood budget, because the client awaited the frame: the frame ended an exchange,
  /// or acknowledged PING or SETTINGS.
  mutating func frameWasAwaited() {
    budget.refill(1)
  }

  /// Returns the next event and consumes its bytes, or returns `nil` if more bytes are needed.
  mutating func next(from buffer: inout ByteBuffer) throws(FrameViolation) -> FrameEvent? {
    if let failure { throw failure }
    do throws(FrameViolation) {
      return try step(&buffer)
    } catch {
      failure = error
      fragments = nil
      throw error
    }
  }

  private mutating func step(_ buffer: inout ByteBuffer) throws(FrameViolation) -> FrameEvent? {
    while true {
      switch phase {
      case .preface, .header:
        if phase == .preface { try Self.checkPreface(buffer) }
        guard let header = FrameHeader(from: &buffer) else { return nil }
        try begin(header)
      case .payload(let header):
        guard var payload = buffer.readSlice(length: header.length) else { return nil }
        phase = .header
        if let event = try read(&payload, of: header) { return event }
      case .content(let content):
        if let event = try readContent(&buffer, content) { return event }
        if phase != .header { return nil }
      case .skipped(let length):
        let count = min(length, buffer.readableBytes)
        buffer.moveReaderIndex(forwardBy: count)
        phase = count == length ? .header : .skipped(length - count)
        if count < length { return nil }
      }
    }
  }

  /// Throws if the first bytes are an HTTP/1 response, which would otherwise be read as a very long frame.
  private static func checkPreface(_ buffer: ByteBuffer) throws(FrameViolation) {
    if let start = buffer.getBytes(at: buffer.readerIndex, length: 5), start == Array("HTTP/".utf8) {
      throw .otherProtocol
    }
  }
}

// MARK: Headers

extension FrameReader {
  /// Checks a frame header and begins the payload.
  private mutating func begin(_ header: FrameHeader) throws(FrameViolation) {
    if phase == .preface, header.type != .settings || header.flags.contains(.acknowledgement) {
      throw .missingPreface(header.type)
    }
    if let fragments, header.type != .continuation || header.stream != fragments.stream {
      throw .interruptedBlock(header.type, fragments.stream)
    }
    guard header.length <= Self.maximumFrameSize else { throw .frameTooLong(header.type, header.length) }
    guard header.hasRightStream else { throw .wrongStream(header.type, header.stream) }
    switch header.type {
    case .data: return try beginContent(header)
    case .headers: break
    case .continuation: try checkContinuation(header)
    case .pushPromise: throw .push(header.stream)
    default:
      try budget.take(header.type)
      guard header.hasRightLength else { throw .wrongLength(header.type, header.length) }
      if header.type.rawValue > FrameType.continuation.rawValue {
        phase = .skipped(header.length)
        return
      }
    }
    phase = .payload(header)
  }

  private func checkContinuation(_ header: FrameHeader) throws(FrameViolation) {
    guard let fragments else { throw .unexpectedContinuation(header.stream) }
    guard fragments.count < limits.continuations else { throw .tooManyContinuations(header.stream) }
    guard header.length <= limits.blockBytes - fragments.bytes.readableBytes else {
      throw .blockTooLarge(header.stream)
    }
  }
}

// MARK: Content

extension FrameReader {
  private mutating func beginContent(_ header: FrameHeader) throws(FrameViolation) {
    let isPadded = header.flags.contains(.padded)
    guard header.length > 0 || !isPadded else { throw .wrongLength(.data, 0) }
    if header.length == 0 { try budget.take(.data) }
    phase = .content(
      Content(
        stream: header.stream, isLast: header.flags.contains(.endStream), awaitsPadding: isPadded,
        length: header.length))
  }

  /// Returns the bytes of a DATA frame that have arrived, or `nil` if more bytes are needed or the frame ended without
  /// effect.
  private mutating func readContent(
    _ buffer: inout ByteBuffer, _ content: Content
  ) throws(FrameViolation) -> FrameEvent? {
    var content = content
    if content.awaitsPadding {
      guard let padding: UInt8 = buffer.readInteger() else { return nil }
      guard padding < content.length else { throw .paddingTooLong(.data, content.stream) }
      content.awaitsPadding = false
      (content.padding, content.skipped) = (Int(padding), 1)
      content.length -= Int(padding) + 1
      if content.length == 0 { try budget.take(.data) }
    }
    let bytes = buffer.readSlice(length: min(content.length, buffer.readableBytes)) ?? ByteBuffer()
    content.length -= bytes.readableBytes
    budget.refill(bytes.readableBytes)
    if content.length == 0 {
      let padding = min(content.padding, buffer.readableBytes)
      buffer.moveReaderIndex(forwardBy: padding)
      content.padding -= padding
      content.skipped += padding
    }
    guard content.length == 0, content.padding == 0 else {
      phase = .content(content)
      return bytes.readableBytes > 0 ? .content(content.stream, bytes, padding: 0, isLast: false) : nil
    }
    phase = .header
    guard content.isLast || content.skipped > 0 || bytes.readableBytes > 0 else { return nil }
    return .content(content.stream, bytes, padding: content.skipped, isLast: content.isLast)
  }
}

// MARK: Payloads

extension FrameReader {
  /// Reads a complete payload of valid length. Returns `nil` if the frame causes no event.
  private mutating func read(
    _ payload: inout ByteBuffer, of header: FrameHeader
  ) throws(FrameViolation) -> FrameEvent? {
    switch header.type {
    case .headers: return try readHead(&payload, of: header)
    case .continuation: return try readContinuation(&payload, of: header)
    case .priority where header.length != 5:
      return .malformed(header.stream, .wrongPriorityLength(header.length, header.stream), isLast: false)
    case .reset:
      return payload.readInteger().map { .reset(header.stream, HTTP2ErrorCode(rawValue: $0)) }
    case .settings:
      if header.flags.contains(.acknowledgement) { return .settingsAcknowledged }
      return .settings(Setting.list(from: &payload))
    case .ping:
      let isAcknowledgement = header.flags.contains(.acknowledgement)
      return payload.readInteger().map { .ping($0, isAcknowledgement: isAcknowledgement) }
    case .goAway:
      return payload.readMultipleIntegers(as: (UInt32, UInt32).self).map { last, code in
        .goAway(
          last: last & 0x7FFF_FFFF, HTTP2ErrorCode(rawValue: code),
          debug: FrameEvent.harmless(payload.readableBytesView))
      }
    case .windowUpdate:
      return payload.readInteger(as: UInt32.self).map { .windowUpdate(header.stream, $0 & 0x7FFF_FFFF) }
    default: return nil
    }
  }

  private mutating func readHead(
    _ payload: inout ByteBuffer, of header: FrameHeader
  ) throws(FrameViolation) -> FrameEvent? {
    var padding = 0
    if header.flags.contains(.padded) {
      guard let count: UInt8 = payload.readInteger() else { throw .wrongLength(.headers, header.length) }
      padding = Int(count)
    }
    // The priority fields of RFC 7540 are ignored.
    if header.flags.contains(.priority), payload.readSlice(length: 5) == nil {
      throw .wrongLength(.headers, header.length)
    }
    guard padding <= payload.readableBytes else { throw .paddingTooLong(.headers, header.stream) }
    payload.moveWriterIndex(to: payload.writerIndex - padding)
    guard payload.readableBytes <= limits.blockBytes else { throw .blockTooLarge(header.stream) }
    let isLast = header.flags.contains(.endStream)
    if header.flags.contains(.endHeaders) { return try decode(payload, header.stream, isLast: isLast) }
    // The copy avoids retaining the whole read buffer until the field block is complete.
    fragments = Fragments(stream: header.stream, isLast: isLast, bytes: ByteBuffer(bytes: payload.readableBytesView))
    return nil
  }

  private mutating func readContinuation(
    _ payload: inout ByteBuffer, of header: FrameHeader
  ) throws(FrameViolation) -> FrameEvent? {
    fragments?.bytes.writeBuffer(&payload)
    fragments?.count += 1
    guard header.flags.contains(.endHeaders), let block = fragments else { return nil }
    fragments = nil
    return try decode(block.bytes, block.stream, isLast: block.isLast)
  }

  private mutating func decode(
    _ block: ByteBuffer, _ stream: StreamID, isLast: Bool
  ) throws(FrameViolation) -> FrameEvent {
    budget.refill()
    var fields = FieldBlock(limits: limits.framing, expecting: expectedFields)
    do throws(CompressionFault) {
      try block.withUnsafeReadableBytes { bytes throws(CompressionFault) in
        try decoder.decode(bytes, into: &fields)
      }
    } catch {
      throw .compression(error, stream)
    }
    expectedFields = min(fields.count, 64)
    if let fault = fields.fault { return .malformed(stream, .fields(fault, stream), isLast: isLast) }
    return .head(stream, fields, isLast: isLast)
  }
}
