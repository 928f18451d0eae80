import HTTPTypes
import NIOCore

@testable import ApusNIO

/// Returns the bytes of a frame.
func frame(
  _ type: FrameType, _ flags: FrameFlags = [], stream: StreamID = 0, _ payload: [UInt8] = []
) -> [UInt8] {
  var buffer = ByteBuffer()
  FrameHeader(length: payload.count, type: type, flags: flags, stream: stream).write(into: &buffer)
  return Array(buffer.readableBytesView) + payload
}

/// Returns the bytes of a frame on stream 0, without flags.
func frame(_ type: FrameType, _ payload: [UInt8]) -> [UInt8] { frame(type, [], stream: 0, payload) }

/// The result of reading frames. The content of each frame is joined, so that the result does not depend on how the
/// input was split.
struct ReadFrames: Equatable, CustomStringConvertible {
  /// The events as text. The content and the padding of a DATA frame form one event.
  private(set) var events: [String] = []
  private(set) var violation: FrameViolation?
  /// The number of unread bytes at the end.
  private(set) var rest = 0
  private(set) var content: [StreamID: [UInt8]] = [:]
  /// The stream of an unfinished DATA frame, and the number of its content bytes so far.
  private var piece = (stream: StreamID(0), count: 0)

  /// The server's connection preface: an empty SETTINGS frame.
  static let preface = frame(.settings)

  /// Feeds the bytes in pieces that end at `cuts`, after the server's preface.
  init(
    _ bytes: [UInt8], limits: FrameReader.Limits = FrameReader.Limits(), cuts: [Int] = [], afterPreface: Bool = true
  ) {
    var reader = FrameReader(limits: limits)
    var buffer = ByteBuffer()
    do throws(FrameViolation) {
      if afterPreface {
        buffer.writeBytes(Self.preface)
        guard case .settings = try reader.next(from: &buffer) else { return }
      }
      var start = 0
      for cut in cuts + [bytes.count] {
        var part = Self.part(bytes[start..<cut])
        buffer.take(&part)
        start = cut
        while let event = try reader.next(from: &buffer) { take(event) }
        rest = buffer.readableBytes
      }
    } catch {
      violation = error
      // The reader must return no events after a violation.
      var more = ByteBuffer(bytes: frame(.ping, Array("12345678".utf8)))
      if (try? reader.next(from: &more)) != nil { events.append("an event after a violation") }
    }
    // How much of the violating frame was read depends on the cuts.
    if violation != nil { (rest, piece) = (0, (0, 0)) }
  }

  /// Returns bytes at the very end of their allocation, so that the address sanitizer detects an access beyond them.
  private static func part(_ bytes: ArraySlice<UInt8>) -> ByteBuffer {
    var part = ByteBufferAllocator().buffer(capacity: bytes.count)
    let start = part.capacity - bytes.count
    part.writeRepeatingByte(0, count: start)
    part.writeBytes(bytes)
    part.moveReaderIndex(to: start)
    return part
  }

  private mutating func take(_ event: FrameEvent) {
    switch event {
    case .content(let stream, let bytes, let padding, let isLast):
      content[stream, default: []] += bytes.readableBytesView
      piece = (stream, (piece.stream == stream ? piece.count : 0) + bytes.readableBytes)
      // The reader reports the end of a DATA frame only with padding or END_STREAM. The content of consecutive frames
      // without padding and END_STREAM is therefore joined.
      if padding > 0 || isLast {
        events.append("content \(stream) \(piece.count)+\(padding)\(isLast ? " last" : "")")
        piece = (0, 0)
      }
      return
    case .head(let stream, let block, let isLast): events.append("\(Self.text(stream, block))\(isLast ? " last" : "")")
    case .malformed(let stream, let violation, let isLast):
      events.append("malformed \(stream): \(violation)\(isLast ? " last" : "")")
    case .reset(let stream, let code): events.append("reset \(stream) \(code)")
    case .settings(let settings):
      events.append("settings" + settings.map { " \($0.identifier)=\($0.value)" }.joined())
    case .settingsAcknowledged: events.append("settings acknowledged")
    case .ping(let data, let isAcknowledgement): events.append("ping \(data)\(isAcknowledgement ? " ack" : "")")
    case .goAway(let last, let code, let debug): events.append("go away \(last) \(code) \(debug)")
    case .windowUpdate(let stream, let increment): events.append("window \(stream) \(increment)")
    }
  }

  private static func text(_ stream: StreamID, _ block: FieldBlock) -> String {
    let fields = (try? block.head())?.headerFields ?? (try? block.trailers()) ?? [:]
    let status = (try? block.head()).map { "\($0.status.code)" } ?? "trailers"
    return "head \(stream) \(status)" + fields.map { " \($0.name.rawName)=\($0.value)" }.joined()
  }

  static func == (one: ReadFrames, other: ReadFrames) -> Bool {
    one.events == other.events && one.violation == other.violation && one.content == other.content
      && one.rest == other.rest && one.piece == other.piece
  }

  var description: String { "\(events), \(violation.map { "\($0)" } ?? "no violation"), \(rest) unread" }
}
