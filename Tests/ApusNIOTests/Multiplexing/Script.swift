import HTTPTypes

@testable import ApusNIO

/// The behavior of a ``FrameServer`` on one connection.
///
/// Steps play the streams up to ``lastStream``. The server itself responds to complete requests on later streams.
struct Script: Sendable {
  /// The steps, in order.
  var steps: [Step]
  /// The highest stream that the steps play. Default: 1.
  var lastStream: StreamID = 1
  /// Whether the server acknowledges SETTINGS and PING frames of the client. Default: `true`.
  var acknowledges = true
  /// Whether the server returns the bytes of each DATA frame to the client's windows immediately. Default: `true`.
  var credits = true
  /// The protocols that the server accepts by ALPN. Default: `h2`.
  var protocols = ["h2"]

  init(_ steps: [Step]) {
    self.steps = steps
  }

  /// A server without faults. Sends its settings only to clients that speak HTTP/2.
  static var sane: Script {
    var script = Script([.await(.preface), .settings()])
    script.lastStream = 0
    return script
  }
}

/// A step of a ``Script``.
enum Step: Sendable {
  /// Sends bytes in one write.
  case send([UInt8])
  /// Sends each byte in a write of its own.
  case sendBytewise([UInt8])
  /// Sends copies of a frame until the connection ends or all copies are sent.
  case flood([UInt8], count: Int)
  /// Begins to send content in DATA frames, within the client's windows, and continues with the next step. Each frame
  /// carries `piece` bytes of content.
  case sendContent(StreamID, count: Int, piece: Int = 16_384, padding: Int? = nil, ends: Bool = true)
  /// Waits for an event.
  case await(Event)
  /// Closes the connection in the direction to the client.
  case halfClose
  case close
  /// Resets the TCP connection.
  case abort
}

/// An event on a connection of a ``FrameServer``. Once an event has occurred, it remains true.
enum Event: Sendable, Hashable {
  /// The client has sent its connection preface.
  case preface
  /// A request head has arrived on a stream.
  case head(StreamID)
  /// The request of a stream is complete.
  case end(StreamID)
  /// At least this number of content bytes has arrived on a stream.
  case content(StreamID, Int)
  /// The client has reset a stream.
  case reset(StreamID)
  /// The client has acknowledged this number of SETTINGS frames.
  case settings(Int)
  /// The client has acknowledged this number of PING frames.
  case pings(Int)
  /// The client has sent GOAWAY or closed the connection.
  case goAway
  /// The client has reset a stream, sent GOAWAY or closed the connection.
  case failed(StreamID)
  /// Content of a stream waited for a window at least once.
  case blocked(StreamID)
  /// All content of a stream is sent.
  case contentSent(StreamID)
  /// All steps of the script are played.
  case played
}

// MARK: - Frames

extension Step {
  static func frame(
    _ type: FrameType, _ flags: FrameFlags = [], _ stream: StreamID = 0, _ payload: [UInt8] = []
  ) -> Step {
    .send(frameBytes(type, flags, stream, payload))
  }

  static func settings(_ settings: (Setting.Identifier, UInt32)...) -> Step {
    .frame(.settings, [], 0, settings.flatMap { bytes($0.rawValue) + bytes($1) })
  }

  static func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) -> Step {
    .frame(.reset, [], stream, bytes(code.rawValue))
  }

  static func goAway(last: StreamID, _ code: HTTP2ErrorCode = .noError, debug: String = "") -> Step {
    .frame(.goAway, [], 0, bytes(last) + bytes(code.rawValue) + debug.utf8)
  }

  static func window(_ stream: StreamID, _ increment: UInt32) -> Step {
    .frame(.windowUpdate, [], stream, bytes(increment))
  }

  static func ping(_ data: UInt64) -> Step { .frame(.ping, [], 0, bytes(data)) }

  /// Sends a field block in one HEADERS frame.
  static func block(_ stream: StreamID, _ block: [UInt8], ends: Bool = false) -> Step {
    .frame(.headers, ends ? [.endHeaders, .endStream] : .endHeaders, stream, block)
  }

  /// Sends the field block of fields, without any pseudo-header field that the fields do not contain.
  static func fields(_ stream: StreamID, _ fields: Fields, ends: Bool = false) -> Step {
    .block(stream, fieldBlock(fields), ends: ends)
  }

  static func head(_ stream: StreamID, _ status: Int = 200, _ fields: Fields = [:], ends: Bool = false) -> Step {
    .block(stream, headBlock(status, fields), ends: ends)
  }

  static func data(_ stream: StreamID, _ text: String, ends: Bool = false) -> Step {
    .frame(.data, ends ? .endStream : [], stream, Array(text.utf8))
  }

  /// Sends a DATA frame with padding.
  static func data(_ stream: StreamID, _ text: String, padding: UInt8, ends: Bool = false) -> Step {
    .frame(.data, ends ? [.padded, .endStream] : .padded, stream, padded(Array(text.utf8), padding))
  }

  /// Sends a field block in a HEADERS frame and a number of CONTINUATION frames.
  static func block(
    _ stream: StreamID, _ block: [UInt8], continuations: Int, ends: Bool = false
  ) -> Step {
    .send(blockFrames(stream, block, continuations: continuations, ends: ends))
  }

  /// Sends a complete response.
  static func respond(_ stream: StreamID, _ text: String = "hello") -> Step {
    .send(responseFrames(stream, text))
  }
}

/// Returns the bytes of a frame. Another name than `frame`, which ``Step`` uses.
private func frameBytes(_ type: FrameType, _ flags: FrameFlags, _ stream: StreamID, _ payload: [UInt8]) -> [UInt8] {
  frame(type, flags, stream: stream, payload)
}

/// Names and values of fields, in order.
typealias Fields = KeyValuePairs<String, String>

/// Returns the literals of fields, without indexing or Huffman coding.
func fieldBlock(_ fields: Fields) -> [UInt8] { fields.flatMap { literal($0.key, $0.value) } }

/// Returns the field block of a response head.
func headBlock(_ status: Int = 200, _ fields: Fields = [:]) -> [UInt8] {
  literal(":status", "\(status)") + fieldBlock(fields)
}

/// Returns the frames of a complete response.
func responseFrames(_ stream: StreamID, _ text: String = "hello", _ fields: Fields = [:]) -> [UInt8] {
  frame(.headers, .endHeaders, stream: stream, headBlock(200, fields))
    + frame(.data, .endStream, stream: stream, Array(text.utf8))
}

/// Returns a HEADERS frame and CONTINUATION frames that share a field block evenly. The block has at least as many
/// bytes as there are frames.
func blockFrames(_ stream: StreamID, _ block: [UInt8], continuations: Int, ends: Bool = false) -> [UInt8] {
  let count = continuations + 1
  let parts = (0..<count).map { block[$0 * block.count / count..<($0 + 1) * block.count / count] }
  return parts.enumerated().flatMap { index, part in
    var flags: FrameFlags = index == parts.count - 1 ? .endHeaders : []
    if index == 0, ends { flags.insert(.endStream) }
    return frame(index == 0 ? .headers : .continuation, flags, stream: stream, Array(part))
  }
}

/// Returns a payload with a Pad Length byte and that number of padding bytes.
func padded(_ payload: [UInt8], _ padding: UInt8) -> [UInt8] {
  [padding] + payload + [UInt8](repeating: 0, count: Int(padding))
}

/// Returns the bytes of an integer in network byte order.
func bytes<Integer: FixedWidthInteger>(_ integer: Integer) -> [UInt8] {
  withUnsafeBytes(of: integer.bigEndian) { Array($0) }
}
