import HTTPTypes

/// A violation of HTTP/2 by the server (RFC 9113 §5.4).
enum FrameViolation: Error, Sendable, Hashable, CustomStringConvertible {
  /// Whether a violation is a connection error or a stream error.
  enum Scope: Sendable, Hashable {
    /// A connection error: the connection ends with GOAWAY.
    case connection
    /// A stream error: the stream ends with RST_STREAM, and the connection continues.
    case stream(StreamID)
  }

  /// The first frame is not SETTINGS (RFC 9113 §3.4).
  case missingPreface(FrameType)
  /// The first bytes are an HTTP/1 response.
  case otherProtocol
  /// A frame exceeds SETTINGS_MAX_FRAME_SIZE (RFC 9113 §4.2).
  case frameTooLong(FrameType, Int)
  /// A frame's length is invalid for its type (RFC 9113 §4.2).
  case wrongLength(FrameType, Int)
  /// A PRIORITY frame does not have five bytes (RFC 9113 §6.3).
  case wrongPriorityLength(Int, StreamID)
  /// A connection frame has a stream identifier other than 0, or a stream frame has the identifier 0 or an even
  /// identifier, which only pushed streams have (RFC 9113 §5.1.1, §6).
  case wrongStream(FrameType, StreamID)
  /// The padding is as long as the payload, or longer (RFC 9113 §6.1).
  case paddingTooLong(FrameType, StreamID)
  /// A CONTINUATION frame follows no unfinished field block (RFC 9113 §6.10).
  case unexpectedContinuation(StreamID)
  /// A frame of another type or stream interrupts a field block (RFC 9113 §6.10).
  case interruptedBlock(FrameType, StreamID)
  /// The number of CONTINUATION frames of a field block exceeds ``FrameReader/Limits/continuations``.
  case tooManyContinuations(StreamID)
  /// A field block has more bytes than ``FrameReader/Limits/blockBytes``.
  case blockTooLarge(StreamID)
  /// The server sends PUSH_PROMISE although SETTINGS_ENABLE_PUSH is 0 (RFC 9113 §8.4).
  case push(StreamID)
  /// A setting has a value that its definition forbids (RFC 9113 §6.5.2).
  case forbiddenSetting(Setting)
  /// The number of consecutive frames without content exceeds ``FrameReader/Limits/controlFrames``.
  case flood(FrameType)
  /// A field block cannot be decompressed (RFC 9113 §4.3).
  case compression(CompressionFault, StreamID)
  /// The fields of a response are malformed or too large, or do not fit its content (RFC 9113 §8.1.1).
  case fields(FieldFault, StreamID)
  /// A frame has a stream that the client has not opened (RFC 9113 §5.1).
  case idleStream(FrameType, StreamID)
  /// A frame follows the end of its stream (RFC 9113 §5.1).
  case closedStream(FrameType, StreamID)
  /// Content precedes the head of its response (RFC 9113 §8.1).
  case earlyContent(StreamID)
  /// A response that cannot have content has content (RFC 9110 §6.4.1).
  case unexpectedContent(StreamID)
  /// Content exceeds the flow-control window of its stream, or of the connection if the stream is 0 (RFC 9113 §6.9.1).
  case windowExceeded(StreamID)
  /// A flow-control window exceeds 2³¹ − 1 (RFC 9113 §6.9.1).
  case windowOverflow(StreamID)
  /// WINDOW_UPDATE has an increment of 0 (RFC 9113 §6.9).
  case zeroIncrement(StreamID)

  /// The error code of the GOAWAY or RST_STREAM frame (RFC 9113 §7).
  var code: HTTP2ErrorCode {
    switch self {
    case .frameTooLong, .wrongLength, .wrongPriorityLength: .frameSizeError
    case .tooManyContinuations, .blockTooLarge, .flood: .enhanceYourCalm
    case .forbiddenSetting(let setting): setting.identifier == .initialWindowSize ? .flowControlError : .protocolError
    case .compression: .compressionError
    case .fields(let fault, _): fault.code
    case .closedStream: .streamClosed
    case .windowExceeded, .windowOverflow: .flowControlError
    case .missingPreface, .otherProtocol, .wrongStream, .paddingTooLong, .unexpectedContinuation, .interruptedBlock,
      .push, .idleStream, .earlyContent, .unexpectedContent, .zeroIncrement:
      .protocolError
    }
  }

  /// Whether the violation is a connection error or a stream error.
  var scope: Scope {
    switch self {
    case .fields(_, let stream), .wrongPriorityLength(_, let stream), .earlyContent(let stream),
      .unexpectedContent(let stream):
      .stream(stream)
    case .windowExceeded(let stream), .windowOverflow(let stream), .zeroIncrement(let stream):
      stream == 0 ? .connection : .stream(stream)
    default: .connection
    }
  }

  /// A description for logs: the frame that the server sent, and its stream. Contains no field values.
  var description: String {
    switch self {
    case .missingPreface(let type): "the server's first frame is \(type) instead of SETTINGS"
    case .otherProtocol: "the server does not speak HTTP/2 but HTTP/1"
    case .frameTooLong(let type, let length): "\(type) has \(length) bytes, above the announced maximum"
    case .wrongLength(let type, let length): "\(type) has \(length) bytes"
    case .wrongPriorityLength(let length, let stream): "PRIORITY of stream \(stream) has \(length) bytes"
    case .wrongStream(let type, let stream): "\(type) has the stream \(stream)"
    case .paddingTooLong(let type, let stream): "the padding of \(type) of stream \(stream) exceeds its payload"
    case .unexpectedContinuation(let stream): "CONTINUATION of stream \(stream) follows no unfinished field block"
    case .interruptedBlock(let type, let stream): "\(type) interrupts the field block of stream \(stream)"
    case .tooManyContinuations(let stream): "a field block of stream \(stream) has too many CONTINUATION frames"
    case .blockTooLarge(let stream): "a field block of stream \(stream) is too large"
    case .push(let stream): "PUSH_PROMISE on stream \(stream), although pushes are disabled"
    case .forbiddenSetting(let setting): "\(setting.identifier) has the value \(setting.value)"
    case .flood(let type): "too many frames without content, the last of which is \(type)"
    case .compression(let fault, let stream): "\(fault), on stream \(stream)"
    case .fields(let fault, let stream): "\(fault), on stream \(stream)"
    case .idleStream(let type, let stream): "\(type) has the stream \(stream), which was never opened"
    case .closedStream(let type, let stream): "\(type) follows the end of stream \(stream)"
    case .earlyContent(let stream): "content precedes the head of the response, on stream \(stream)"
    case .unexpectedContent(let stream): "a response that cannot have content has content, on stream \(stream)"
    case .windowExceeded(let stream): "content exceeds the flow-control window of \(Self.name(of: stream))"
    case .windowOverflow(let stream): "the flow-control window of \(Self.name(of: stream)) exceeds 2^31 - 1"
    case .zeroIncrement(let stream): "WINDOW_UPDATE of \(Self.name(of: stream)) has the increment 0"
    }
  }

  private static func name(of stream: StreamID) -> String { stream == 0 ? "the connection" : "stream \(stream)" }
}
