import NIOCore

/// A stream identifier. 0 stands for the connection.
typealias StreamID = UInt32

/// The type of a frame (RFC 9113 §6).
struct FrameType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  let rawValue: UInt8

  static let data = FrameType(rawValue: 0)
  static let headers = FrameType(rawValue: 1)
  static let priority = FrameType(rawValue: 2)
  static let reset = FrameType(rawValue: 3)
  static let settings = FrameType(rawValue: 4)
  static let pushPromise = FrameType(rawValue: 5)
  static let ping = FrameType(rawValue: 6)
  static let goAway = FrameType(rawValue: 7)
  static let windowUpdate = FrameType(rawValue: 8)
  static let continuation = FrameType(rawValue: 9)

  private static let names = [
    "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
    "CONTINUATION",
  ]

  /// The name in RFC 9113, or the number of an unknown type.
  var description: String {
    Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : "the unknown frame \(rawValue)"
  }
}

/// The flags of a frame.
struct FrameFlags: OptionSet, Sendable, Hashable {
  let rawValue: UInt8

  static let acknowledgement = FrameFlags(rawValue: 0x1)
  static let endStream = FrameFlags(rawValue: 0x1)
  static let endHeaders = FrameFlags(rawValue: 0x4)
  static let padded = FrameFlags(rawValue: 0x8)
  static let priority = FrameFlags(rawValue: 0x20)
}

/// A frame header: the nine bytes before the payload (RFC 9113 §4.1).
struct FrameHeader: Sendable, Hashable {
  /// The number of bytes of a frame header.
  static let size = 9

  let length: Int
  let type: FrameType
  let flags: FrameFlags
  let stream: StreamID

  init(length: Int, type: FrameType, flags: FrameFlags = [], stream: StreamID = 0) {
    (self.length, self.type, self.flags, self.stream) = (length, type, flags, stream)
  }

  /// Reads a frame header. Returns `nil` if the buffer contains fewer than nine bytes.
  init?(from buffer: inout ByteBuffer) {
    guard buffer.readableBytes >= Self.size, let word: UInt64 = buffer.readInteger(),
      let last: UInt8 = buffer.readInteger()
    else { return nil }
    length = Int(word >> 40)
    type = FrameType(rawValue: UInt8(truncatingIfNeeded: word >> 32))
    flags = FrameFlags(rawValue: UInt8(truncatingIfNeeded: word >> 24))
    // The first bit of the stream identifier is reserved and ignored.
    stream = (UInt32(truncatingIfNeeded: word & 0xFF_FFFF) << 8 | UInt32(last)) & 0x7FFF_FFFF
  }

  /// Whether a server may send a frame of this type on its stream. Even identifiers belong to pushed streams, which the
  /// client disables.
  var hasRightStream: Bool {
    switch type {
    case .settings, .ping, .goAway: stream == 0
    case .windowUpdate: stream == 0 || !stream.isMultiple(of: 2)
    // A server may send PRIORITY for any stream.
    case .priority: stream != 0
    case .data, .headers, .reset, .continuation: !stream.isMultiple(of: 2)
    default: true
    }
  }

  /// Whether the length is valid for the type, for frames other than DATA, HEADERS and CONTINUATION.
  var hasRightLength: Bool {
    switch type {
    case .reset, .windowUpdate: length == 4
    case .ping: length == 8
    case .goAway: length >= 8
    case .settings: flags.contains(.acknowledgement) ? length == 0 : length.isMultiple(of: 6)
    default: true
    }
  }

  /// Writes the header at a position in a buffer, or at the end of the buffer.
  func write(into buffer: inout ByteBuffer, at index: Int) {
    let word =
      UInt64(truncatingIfNeeded: length) << 40 | UInt64(type.rawValue) << 32 | UInt64(flags.rawValue) << 24
      | UInt64(stream >> 8 & 0xFF_FFFF)
    buffer.setInteger(word, at: index)
    buffer.setInteger(UInt8(truncatingIfNeeded: stream), at: index + 8)
  }

  /// Appends the header.
  func write(into buffer: inout ByteBuffer) {
    let index = buffer.writerIndex
    write(into: &buffer, at: index)
    buffer.moveWriterIndex(to: index + Self.size)
  }
}
