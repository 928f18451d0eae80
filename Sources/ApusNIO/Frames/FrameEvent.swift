import HTTPTypes
import NIOCore

/// A frame of the server, or a part of one, whose syntax is right. Whether its stream may receive it is not checked.
enum FrameEvent: Sendable {
  /// A complete field block: a head, or trailers. `isLast`: END_STREAM.
  case head(StreamID, FieldBlock, isLast: Bool)
  /// Bytes of a DATA frame as they arrive. `padding` counts the padding and its length, which belong to the windows
  /// too; it is reported with the last bytes of the frame. `isLast`: END_STREAM, and the frame is complete.
  case content(StreamID, ByteBuffer, padding: Int, isLast: Bool)
  /// A violation that concerns one stream. `isLast`: END_STREAM.
  case malformed(StreamID, FrameViolation, isLast: Bool)
  case reset(StreamID, HTTP2ErrorCode)
  /// Settings, which must be acknowledged.
  case settings([Setting])
  case settingsAcknowledged
  case ping(UInt64, isAcknowledgement: Bool)
  /// The server takes no streams above `last`. `debug` is the beginning of its debug data, with question marks in the
  /// place of everything but visible ASCII and spaces.
  case goAway(last: StreamID, HTTP2ErrorCode, debug: String)
  /// A window grows, of the connection if the stream is 0. The increment may be 0, and may let the window overflow.
  case windowUpdate(StreamID, UInt32)
}

extension FrameEvent {
  /// Returns the beginning of a text, with question marks in the place of everything but visible ASCII and spaces.
  static func harmless(_ bytes: ByteBufferView) -> String {
    String(decoding: bytes.prefix(256).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }
}
