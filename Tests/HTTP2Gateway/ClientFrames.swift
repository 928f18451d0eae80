import HTTPTypes
import NIOCore

@testable import ApusNIO

/// A violation of HTTP/2 by the client.
struct ClientViolation: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// A frame of a client.
enum ClientFrame {
  case head(StreamID, RequestBlock, isLast: Bool)
  /// The content of a DATA frame, and the number of bytes that count towards the flow-control windows.
  case content(StreamID, ByteBuffer, flow: Int, isLast: Bool)
  case reset(StreamID)
  case settings([Setting])
  case settingsAcknowledged
  case ping(UInt64, isAcknowledgement: Bool)
  case windowUpdate(StreamID, Int)
}

/// A strict reader of a client's connection preface and frames (RFC 9113 §3.4, §4, §6). The states of streams are not
/// checked.
struct ClientFrames {
  private static let magic = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  /// The default of SETTINGS_MAX_FRAME_SIZE, which the gateway does not change.
  private static let maximumFrameSize = 16_384

  private struct Fragments {
    let stream: StreamID
    let isLast: Bool
    var bytes: ByteBuffer
  }

  private var input = ByteBuffer()
  private var hasMagic = false
  private var hasSettings = false
  private var decoder = FieldDecoder()
  private var fragments: Fragments?

  mutating func append(_ bytes: ByteBuffer) {
    if input.readableBytes == 0 {
      input = bytes
    } else {
      input.writeImmutableBuffer(bytes)
    }
  }

  /// Returns the next frame, or `nil` if more bytes are needed.
  mutating func next() throws(ClientViolation) -> ClientFrame? {
    if !hasMagic {
      guard let magic = input.readBytes(length: Self.magic.count) else { return nil }
      guard magic == Self.magic else { throw ClientViolation("the connection does not begin with the preface") }
      hasMagic = true
    }
    while true {
      var rest = input
      guard let header = FrameHeader(from: &rest) else { return nil }
      try check(header)
      guard var payload = rest.readSlice(length: header.length) else { return nil }
      input = rest
      hasSettings = true
      if let frame = try read(&payload, of: header) { return frame }
    }
  }

  private func check(_ header: FrameHeader) throws(ClientViolation) {
    guard hasSettings || (header.type == .settings && !header.flags.contains(.acknowledgement)) else {
      throw ClientViolation("the first frame is \(header.type)")
    }
    if let fragments, header.type != .continuation || header.stream != fragments.stream {
      throw ClientViolation("\(header.type) interrupts the field block of stream \(fragments.stream)")
    }
    guard header.length <= Self.maximumFrameSize, header.hasRightLength else {
      throw ClientViolation("\(header.type) has \(header.length) bytes")
    }
    guard header.hasRightStream, header.type != .pushPromise else {
      throw ClientViolation("\(header.type) on stream \(header.stream)")
    }
  }

  /// Reads a complete payload. Returns `nil` if the frame has no effect.
  private mutating func read(
    _ payload: inout ByteBuffer, of header: FrameHeader
  ) throws(ClientViolation) -> ClientFrame? {
    let isLast = header.flags.contains(.endStream)
    switch header.type {
    case .data:
      try Self.removePadding(&payload, header)
      return .content(header.stream, payload, flow: header.length, isLast: isLast)
    case .headers:
      try Self.removePadding(&payload, header)
      if header.flags.contains(.priority) {
        guard payload.readableBytes >= 5 else { throw ClientViolation("HEADERS has \(header.length) bytes") }
        payload.moveReaderIndex(forwardBy: 5)
      }
      fragments = Fragments(stream: header.stream, isLast: isLast, bytes: payload)
      return try finishBlock(header)
    case .continuation:
      guard fragments != nil else { throw ClientViolation("CONTINUATION continues nothing") }
      fragments?.bytes.writeBuffer(&payload)
      return try finishBlock(header)
    case .reset:
      return .reset(header.stream)
    case .settings:
      return header.flags.contains(.acknowledgement) ? .settingsAcknowledged : .settings(Setting.list(from: &payload))
    case .ping:
      return payload.readInteger().map { .ping($0, isAcknowledgement: header.flags.contains(.acknowledgement)) }
    case .windowUpdate:
      guard let increment: UInt32 = payload.readInteger(), increment & 0x7FFF_FFFF > 0 else {
        throw ClientViolation("WINDOW_UPDATE of stream \(header.stream) has no increment")
      }
      return .windowUpdate(header.stream, Int(increment & 0x7FFF_FFFF))
    case .priority:
      guard header.length == 5 else { throw ClientViolation("PRIORITY has \(header.length) bytes") }
      return nil
    default:
      return nil
    }
  }

  private static func removePadding(_ payload: inout ByteBuffer, _ header: FrameHeader) throws(ClientViolation) {
    guard header.flags.contains(.padded) else { return }
    guard let padding: UInt8 = payload.readInteger(), Int(padding) <= payload.readableBytes else {
      throw ClientViolation("the padding of \(header.type) exceeds its payload")
    }
    payload.moveWriterIndex(to: payload.writerIndex - Int(padding))
  }

  private mutating func finishBlock(_ header: FrameHeader) throws(ClientViolation) -> ClientFrame? {
    guard header.flags.contains(.endHeaders), let block = fragments else { return nil }
    fragments = nil
    var fields = RequestBlock()
    do throws(CompressionFault) {
      try block.bytes.withUnsafeReadableBytes { bytes throws(CompressionFault) in
        try decoder.decode(bytes, into: &fields)
      }
    } catch {
      throw ClientViolation("\(error)")
    }
    return .head(block.stream, fields, isLast: block.isLast)
  }
}
