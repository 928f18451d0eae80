import HTTPTypes
import NIOCore

/// A writer that appends the frames of a client (RFC 9113 §6) to one buffer, so that one write sends all frames.
struct FrameWriter: Sendable {
  /// The frames to send. The owner of the writer sends and clears the buffer.
  var buffer = ByteBuffer()
  /// The server's SETTINGS_MAX_FRAME_SIZE.
  var maximumFrameSize = 16_384

  /// The magic bytes at the start of the client's connection preface (RFC 9113 §3.4).
  private static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

  /// Writes the connection preface with the settings, and enlarges the connection's flow-control window. No setting
  /// changes the connection's window.
  mutating func writePreface(settings: [Setting], windowIncrement: UInt32) {
    buffer.writeStaticString(Self.preface)
    write(FrameHeader(length: 6 * settings.count, type: .settings))
    for setting in settings {
      buffer.writeMultipleIntegers(setting.identifier.rawValue, setting.value)
    }
    if windowIncrement > 0 { writeWindowUpdate(0, increment: windowIncrement) }
  }

  /// Writes a HEADERS frame, and CONTINUATION frames if the field block exceeds ``maximumFrameSize``.
  ///
  /// - Parameters:
  ///   - isLast: whether the request has no content.
  ///   - encode: a closure that appends the field block. If the closure throws, no frame is written.
  @inline(__always)
  mutating func writeHead(
    _ stream: StreamID, isLast: Bool, encode: (inout ByteBuffer) throws(FramingError) -> Void
  ) throws(FramingError) {
    let start = buffer.writerIndex
    buffer.writeRepeatingByte(0, count: FrameHeader.size)
    do throws(FramingError) {
      try encode(&buffer)
    } catch {
      buffer.moveWriterIndex(to: start)
      throw error
    }
    finishHead(stream, from: start, isLast: isLast)
  }

  private mutating func finishHead(_ stream: StreamID, from start: Int, isLast: Bool) {
    let count = buffer.writerIndex - start - FrameHeader.size
    let end: FrameFlags = isLast ? .endStream : []
    guard count > maximumFrameSize else {
      return FrameHeader(length: count, type: .headers, flags: [end, .endHeaders], stream: stream)
        .write(into: &buffer, at: start)
    }
    guard var block = buffer.getSlice(at: start + FrameHeader.size, length: count) else { return }
    buffer.moveWriterIndex(to: start)
    var (type, flags) = (FrameType.headers, end)
    while block.readableBytes > 0 {
      let length = min(block.readableBytes, max(1, maximumFrameSize))
      guard var part = block.readSlice(length: length) else { return }
      if block.readableBytes == 0 { flags.insert(.endHeaders) }
      write(FrameHeader(length: length, type: type, flags: flags, stream: stream))
      buffer.writeBuffer(&part)
      (type, flags) = (.continuation, [])
    }
  }

  /// Writes the header of a DATA frame. The caller must append `count` bytes of content, at most ``maximumFrameSize``.
  mutating func writeContentHeader(_ stream: StreamID, count: Int, isLast: Bool) {
    write(FrameHeader(length: count, type: .data, flags: isLast ? .endStream : [], stream: stream))
  }

  mutating func writeReset(_ stream: StreamID, _ code: HTTP2ErrorCode) {
    write(FrameHeader(length: 4, type: .reset, stream: stream))
    buffer.writeInteger(code.rawValue)
  }

  /// Enlarges the flow-control window of a stream, or of the connection if the stream is 0.
  ///
  /// - Parameter increment: from 1 to 2³¹ − 1.
  mutating func writeWindowUpdate(_ stream: StreamID, increment: UInt32) {
    write(FrameHeader(length: 4, type: .windowUpdate, stream: stream))
    buffer.writeInteger(increment)
  }

  mutating func writePing(_ data: UInt64, isAcknowledgement: Bool) {
    write(FrameHeader(length: 8, type: .ping, flags: isAcknowledgement ? .acknowledgement : []))
    buffer.writeInteger(data)
  }

  mutating func writeSettingsAcknowledgement() {
    write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement))
  }

  /// Writes a GOAWAY frame.
  ///
  /// - Parameters:
  ///   - last: the highest processed stream that the server has opened: 0, because servers open no streams.
  ///   - debug: at most 1 KiB of text about the reason.
  mutating func writeGoAway(last: StreamID = 0, _ code: HTTP2ErrorCode, debug: String = "") {
    let debug = debug.utf8.prefix(1024)
    write(FrameHeader(length: 8 + debug.count, type: .goAway))
    buffer.writeMultipleIntegers(last, code.rawValue)
    buffer.writeBytes(debug)
  }

  private mutating func write(_ header: FrameHeader) {
    header.write(into: &buffer)
  }
}
