/// A frame that breaks a rule of RFC 9113 §4 to §6 or §8.4.
struct FrameBreach: Sendable, CustomStringConvertible {
  let description: String
  /// The type, the flags and the stream of a frame.
  typealias Header = (type: UInt8, flags: UInt8, stream: Int)

  let frames: [(header: Header, payload: [UInt8])]

  init(_ description: String, _ header: Header, _ payload: [UInt8] = []) {
    self.description = description
    frames = [(header, payload)]
  }

  /// HEADERS without END_HEADERS on stream 1, followed by a frame.
  init(afterHead description: String, _ header: Header, _ payload: [UInt8]) {
    self.description = description
    frames = [((1, 0, 1), [0x88]), (header, payload)]
  }

  static let all = [
    FrameBreach("DATA on stream 0", (0, 0, 0), [1]), FrameBreach("HEADERS on stream 0", (1, 4, 0), [0x88]),
    FrameBreach("PRIORITY on stream 0", (2, 0, 0), [0, 0, 0, 3, 1]),
    FrameBreach("RST_STREAM on stream 0", (3, 0, 0), [0, 0, 0, 8]),
    FrameBreach("SETTINGS on stream 1", (4, 0, 1)),
    FrameBreach("PING on stream 1", (6, 0, 1), [0, 1, 2, 3, 4, 5, 6, 7]),
    FrameBreach("GOAWAY on stream 1", (7, 0, 1), [0, 0, 0, 0, 0, 0, 0, 0]),
    FrameBreach("WINDOW_UPDATE on stream 2", (8, 0, 2), [0, 0, 0, 1]),
    FrameBreach("HEADERS on stream 2", (1, 4, 2), [0x88]), FrameBreach("DATA on stream 2", (0, 0, 2), [1]),
    FrameBreach("PRIORITY of four bytes", (2, 0, 1), [0, 0, 0, 3]),
    FrameBreach("PRIORITY of six bytes", (2, 0, 1), [0, 0, 0, 3, 1, 1]),
    FrameBreach("RST_STREAM of three bytes", (3, 0, 1), [0, 0, 8]),
    FrameBreach("RST_STREAM of five bytes", (3, 0, 1), [0, 0, 0, 0, 8]),
    FrameBreach("SETTINGS of five bytes", (4, 0, 0), [0, 4, 0, 0, 1]),
    FrameBreach("An acknowledgement of SETTINGS with a setting", (4, 1, 0), [0, 4, 0, 0, 0, 1]),
    FrameBreach("PING of seven bytes", (6, 0, 0), [0, 1, 2, 3, 4, 5, 6]),
    FrameBreach("PING of nine bytes", (6, 0, 0), [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    FrameBreach("GOAWAY of seven bytes", (7, 0, 0), [0, 0, 0, 0, 0, 0, 0]),
    FrameBreach("WINDOW_UPDATE of three bytes", (8, 0, 0), [0, 0, 1]),
    FrameBreach("WINDOW_UPDATE of five bytes", (8, 0, 0), [0, 0, 0, 0, 1]),
    FrameBreach("DATA with padding, but without Pad Length", (0, 8, 1)),
    FrameBreach("HEADERS with padding, but without Pad Length", (1, 12, 1)),
    FrameBreach("DATA whose padding is as long as the payload", (0, 8, 1), [4, 0, 0, 0]),
    FrameBreach("HEADERS whose padding is longer than the payload", (1, 12, 1), [3, 0x88, 0]),
    FrameBreach("HEADERS whose padding covers the priority", (1, 0x2C, 1), [1, 0, 0, 0, 3, 1]),
    FrameBreach("HEADERS with a short priority", (1, 0x24, 1), [0, 0, 0, 3]),
    FrameBreach("CONTINUATION without HEADERS", (9, 4, 1), [0x88]),
    FrameBreach("PUSH_PROMISE", (5, 4, 1), [0, 0, 0, 2, 0x82]),
    FrameBreach("a frame above SETTINGS_MAX_FRAME_SIZE", (0, 0, 1), [UInt8](repeating: 0, count: 16_385)),
    FrameBreach("an unknown frame above SETTINGS_MAX_FRAME_SIZE", (99, 0, 0), [UInt8](repeating: 0, count: 16_385)),
    FrameBreach("a field block with the index 0", (1, 4, 1), [0x80]),
    FrameBreach("a field block that ends inside a field", (1, 4, 1), [0x88, 0x40, 1]),
    FrameBreach("an upper-case field name", (1, 4, 1), [0x88, 0, 1, 0x41, 1, 0x61]),
    FrameBreach("a connection-specific field", (1, 4, 1), [0x88, 0x0F, 42, 1, 0x61]),
    FrameBreach("an unknown pseudo-header field", (1, 4, 1), [0x88, 0, 2, 0x3A, 0x61, 1, 0x61]),
    FrameBreach("a pseudo-header field after a field", (1, 4, 1), [0, 1, 0x61, 1, 0x61, 0x88]),
    FrameBreach("a second :status", (1, 4, 1), [0x88, 0x88]),
    FrameBreach(afterHead: "PING inside a field block", (6, 4, 0), [0, 1, 2, 3, 4, 5, 6, 7]),
    FrameBreach(afterHead: "CONTINUATION of another stream", (9, 4, 3), [0x88]),
    FrameBreach(afterHead: "DATA inside a field block", (0, 4, 1), [1]),
    FrameBreach(afterHead: "an unknown frame inside a field block", (99, 4, 1), [1]),
  ]
}

extension RandomServerFrames {
  mutating func write(_ breach: FrameBreach) {
    for (header, payload) in breach.frames {
      write(header.type, flags: header.flags, stream: header.stream, payload)
    }
  }
}
