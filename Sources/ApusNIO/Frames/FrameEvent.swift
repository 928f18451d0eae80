import HTTPTypes
import NIOCore

/// A syntactically valid frame of the server, or a part of a frame. The state of the stream is not checked.
enum FrameEvent: Sendable {
  /// A complete field block: a response head or trailers. `isLast`: END_STREAM.
  case head(StreamID, FieldBlock, isLast: Bool)
  /// Content bytes of a DATA frame, as the bytes arrive. `padding` is the number of padding bytes including the Pad
  /// Length byte, which also count towards the flow-control windows. The padding is reported with the last bytes of the
  /// frame. `isLast`: the frame has END_STREAM and is complete.
  case content(StreamID, ByteBuffer, padding: Int, isLast: Bool)
  /// A stream error. `isLast`: END_STREAM.
  case malformed(StreamID, FrameViolation, isLast: Bool)
  case reset(StreamID, HTTP2ErrorCode)
  /// A SETTINGS frame, which must be acknowledged.
  case settings([Setting])
  case settingsAcknowledged
  case ping(UInt64, isAcknowledgement: Bool)
  /// The server processes no streams above `last`. `debug` is the beginning of the debug data. Question marks replace
  /// all bytes except visible ASCII and spaces.
  case goAway(last: StreamID, HTTP2ErrorCode, debug: String)
  /// A flow-control window grows: of a stream, or of the connection if the stream is 0. The increment can be 0 or make
  /// the window overflow.
  case windowUpdate(StreamID, UInt32)
}

extension FrameEvent {
  /// Returns the first 256 bytes as text. Question marks replace all bytes except visible ASCII and spaces.
  static func harmless(_ bytes: ByteBufferView) -> String {
    String(decoding: bytes.prefix(256).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }
}
