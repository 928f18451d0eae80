import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

@testable import ApusNIO

/// A frame as both parsers report it.
enum SeenFrame: Equatable {
  case head(Int, [FieldLine], isLast: Bool)
  case content(Int, [UInt8], padding: Int, isLast: Bool)
  case reset(Int, Int)
  case settings([HTTP2Setting])
  case settingsAcknowledged
  case ping(UInt64, isAcknowledgement: Bool)
  case goAway(last: Int, Int, debug: String)
  case windowUpdate(Int, Int)
}

/// The frames that a parser has reported. The parsers cut content at different positions: content of one stream is
/// joined until a frame with padding, a frame with END_STREAM or a frame of another kind.
struct SeenFrames: Equatable {
  private(set) var frames: [SeenFrame] = []
  /// Whether the parser has reported an error of the connection or of a stream.
  var isRefused = false

  mutating func add(_ frame: SeenFrame) {
    guard case .content(let stream, let bytes, let padding, let isLast) = frame else { return frames.append(frame) }
    guard !bytes.isEmpty || padding > 0 || isLast else { return }
    if case .content(stream, let start, padding: 0, isLast: false) = frames.last {
      frames[frames.count - 1] = .content(stream, start + bytes, padding: padding, isLast: isLast)
    } else {
      frames.append(frame)
    }
  }

  mutating func receive(_ event: FrameEvent) {
    switch event {
    case .head(let stream, let block, let isLast): add(.head(Int(stream), Self.lines(block), isLast: isLast))
    case .content(let stream, let bytes, let padding, let isLast):
      add(.content(Int(stream), Array(bytes.readableBytesView), padding: padding, isLast: isLast))
    case .malformed: isRefused = true
    case .reset(let stream, let code): add(.reset(Int(stream), Int(code.rawValue)))
    case .settings(let settings): add(.settings(settings.map { HTTP2Setting($0) }))
    case .settingsAcknowledged: add(.settingsAcknowledged)
    case .ping(let data, let isAcknowledgement): add(.ping(data, isAcknowledgement: isAcknowledgement))
    case .goAway(let last, let code, let debug): add(.goAway(last: Int(last), Int(code.rawValue), debug: debug))
    case .windowUpdate(let stream, let increment): add(.windowUpdate(Int(stream), Int(increment)))
    }
  }

  /// Adds a frame of NIOHTTP2. PRIORITY is left out: ``FrameReader`` ignores it (RFC 9113 §5.3.2).
  mutating func receive(_ frame: HTTP2Frame) {
    let stream = Int(frame.streamID)
    switch frame.payload {
    case .headers(let head): add(.head(stream, head.headers.map { FieldLine($0).plain }, isLast: head.endStream))
    case .data(let content):
      guard case .byteBuffer(let bytes) = content.data else { return }
      // The Pad Length byte counts as padding too.
      let padding = content.paddingBytes.map { $0 + 1 } ?? 0
      add(.content(stream, Array(bytes.readableBytesView), padding: padding, isLast: content.endStream))
    case .rstStream(let code): add(.reset(stream, code.networkCode))
    case .settings(.settings(let settings)): add(.settings(settings))
    case .settings(.ack): add(.settingsAcknowledged)
    case .ping(let data, let isAcknowledgement): add(.ping(data.integer, isAcknowledgement: isAcknowledgement))
    case .goAway(let last, let code, let debug):
      let text = debug.map { FrameEvent.harmless($0.readableBytesView) } ?? ""
      add(.goAway(last: Int(last), code.networkCode, debug: text))
    case .windowUpdate(let increment): add(.windowUpdate(stream, increment))
    case .priority, .pushPromise, .alternativeService, .origin: break
    }
  }

  /// Returns the first frame that differs, with the number of frames before it.
  func difference(from other: SeenFrames) -> String {
    let count = zip(frames, other.frames).prefix { $0 == $1 }.count
    let (ours, theirs) = (frames.dropFirst(count).first, other.frames.dropFirst(count).first)
    let reading = "\(ours.map { "\($0)" } ?? "nothing") instead of \(theirs.map { "\($0)" } ?? "nothing")"
    return "frame \(count): \(reading); refused: \(isRefused), \(other.isRefused)"
  }

  private static func lines(_ block: FieldBlock) -> [FieldLine] {
    if let head = try? block.head() {
      return [FieldLine(":status", "\(head.status.code)")] + head.headerFields.map { FieldLine($0) }
    }
    return ((try? block.trailers()) ?? [:]).map { FieldLine($0) }
  }
}

extension HTTP2Setting {
  init(_ setting: Setting) {
    self.init(
      parameter: HTTP2SettingsParameter(extensionSetting: Int(setting.identifier.rawValue)), value: Int(setting.value))
  }
}
