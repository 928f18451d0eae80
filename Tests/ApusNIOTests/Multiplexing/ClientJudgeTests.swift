import HTTPTypes
import NIOCore
import Testing

@testable import ApusNIO

/// The frames of a client and of its server, in order.
struct JudgedFrames: Sendable, CustomTestStringConvertible {
  /// The violation, or `nil` if the client follows RFC 9113.
  let violation: String?
  let frames: [Sent]

  enum Sent: Sendable {
    case client([UInt8])
    case server([UInt8])
  }

  var testDescription: String { violation ?? "no violation, \(frames.count) frames" }

  /// - Parameter frames: the frames after both prefaces and the acknowledgments of SETTINGS.
  init(_ violation: String?, _ frames: Sent...) {
    (self.violation, self.frames) = (violation, frames)
  }

  /// Returns the violations that a judge finds.
  func judged() -> [String] {
    var judge = ClientJudge()
    judge.sends(frame(.settings))
    _ = judge.read(ByteBuffer(bytes: ClientJudge.magic + frame(.settings) + frame(.settings, .acknowledgement)))
    for sent in frames {
      switch sent {
      case .client(let bytes): _ = judge.read(ByteBuffer(bytes: bytes))
      case .server(let bytes): judge.sends(bytes)
      }
    }
    return judge.received.violations
  }
}

@Suite("The judge of a client's frames")
struct ClientJudgeTests {
  private static func head(_ stream: StreamID, ends: Bool = false, adding fields: Fields = [:]) -> JudgedFrames.Sent {
    let pseudo: Fields = [":method": "POST", ":scheme": "http", ":authority": "a", ":path": "/"]
    return block(stream, fieldBlock(pseudo) + fieldBlock(fields), ends: ends)
  }

  private static func block(_ stream: StreamID, _ block: [UInt8], ends: Bool = false) -> JudgedFrames.Sent {
    .client(frame(.headers, ends ? [.endHeaders, .endStream] : .endHeaders, stream: stream, block))
  }

  private static func data(_ stream: StreamID, _ count: Int, ends: Bool = false) -> JudgedFrames.Sent {
    .client(frame(.data, ends ? .endStream : [], stream: stream, [UInt8](repeating: 7, count: count)))
  }

  private static func settings(_ setting: Setting.Identifier, _ value: UInt32) -> JudgedFrames.Sent {
    .server(frame(.settings, bytes(setting.rawValue) + bytes(value)))
  }

  private static let acknowledgment = JudgedFrames.Sent.client(frame(.settings, .acknowledgement))
  private static let ping = JudgedFrames.Sent.server(frame(.ping, bytes(UInt64(5))))
  private static let pong = JudgedFrames.Sent.client(frame(.ping, .acknowledgement, bytes(UInt64(5))))
  private static let reset = JudgedFrames.Sent.client(frame(.reset, stream: 1, bytes(UInt32(8))))

  static let cases: [JudgedFrames] = streams + windows + fields + connection

  private static let streams: [JudgedFrames] = [
    JudgedFrames(nil, head(1), data(1, 10), data(1, 0, ends: true), head(3, ends: true)),
    JudgedFrames(nil, head(1), block(1, fieldBlock(["x": "y"]), ends: true)),
    JudgedFrames(nil, head(1, ends: true), .client(frame(.windowUpdate, stream: 1, bytes(UInt32(1)))), reset),
    JudgedFrames("HEADERS has the stream 2", head(2)),
    JudgedFrames("stream 1 follows stream 3", head(3), head(1)),
    JudgedFrames("DATA on the idle stream 1", data(1, 1)),
    JudgedFrames("RST_STREAM on the idle stream 1", reset),
    JudgedFrames("DATA on stream 1, which the client has ended", head(1, ends: true), data(1, 1)),
    JudgedFrames("HEADERS on stream 1, which the client has ended", head(1, ends: true), block(1, [], ends: true)),
    JudgedFrames("DATA on stream 1, which the client has reset", head(1), reset, data(1, 1)),
    JudgedFrames("RST_STREAM on stream 1, which the client has reset", head(1), reset, reset),
    JudgedFrames(nil, head(1), .server(frame(.reset, stream: 1, bytes(UInt32(0)))), ping, data(1, 1), pong),
    JudgedFrames(
      "DATA on stream 1, which the server has reset", head(1), .server(frame(.reset, stream: 1, bytes(UInt32(0)))),
      ping,
      pong, data(1, 1)),
    JudgedFrames(
      "DATA interrupts a field block", head(1), .client(frame(.headers, stream: 3, [])), data(1, 1)),
    JudgedFrames(nil, settings(.maximumStreams, 1), head(1), head(3), acknowledgment),
    JudgedFrames(
      "stream 3 exceeds the maximum of concurrent streams", settings(.maximumStreams, 1), acknowledgment, head(1),
      head(3)
    ),
    JudgedFrames(
      "stream 3 is opened after GOAWAY", head(1), .server(frame(.goAway, bytes(UInt32(1)) + bytes(UInt32(0)))), ping,
      pong,
      head(3)),
  ]

  private static let windows: [JudgedFrames] = [
    JudgedFrames(nil, settings(.initialWindowSize, 10), acknowledgment, head(1), data(1, 10), data(1, 0, ends: true)),
    JudgedFrames(nil, settings(.initialWindowSize, 10), head(1), data(1, 11), acknowledgment),
    JudgedFrames(
      "DATA of 11 bytes exceeds stream 1's window", settings(.initialWindowSize, 10), acknowledgment, head(1),
      data(1, 11)),
    JudgedFrames(
      "DATA of 1 bytes exceeds stream 1's window", head(1), data(1, 100), settings(.initialWindowSize, 50),
      acknowledgment,
      .server(frame(.windowUpdate, stream: 1, bytes(UInt32(50)))), data(1, 1)),
    JudgedFrames(
      "DATA of 16384 bytes exceeds the connection's window", settings(.initialWindowSize, 1 << 20), acknowledgment,
      head(1),
      data(1, 16_384), data(1, 16_384), data(1, 16_384), data(1, 16_384)),
    JudgedFrames("DATA has 16385 bytes", head(1), data(1, 16_385)),
    JudgedFrames("WINDOW_UPDATE has the increment 0", .client(frame(.windowUpdate, bytes(UInt32(0))))),
    JudgedFrames(
      "the client's connection window overflows", .client(frame(.windowUpdate, bytes(UInt32(Int32.max))))),
  ]

  private static let fields: [JudgedFrames] = [
    JudgedFrames("the field Date breaks the rule upperCaseName", head(1, adding: ["Date": "x"])),
    JudgedFrames("the field connection breaks the rule connectionField", head(1, adding: ["connection": "close"])),
    JudgedFrames(
      ":path follows a field",
      block(1, fieldBlock([":method": "GET", ":scheme": "http", ":authority": "a", "x": "y", ":path": "/"]))),
    JudgedFrames(":path occurs twice", head(1, adding: [":path": "/"])),
    JudgedFrames(
      #"a request has the pseudo-header fields [":method", ":path", ":scheme"]"#,
      block(1, fieldBlock([":method": "GET", ":scheme": "http", ":path": "/"]))),
    JudgedFrames("trailers without END_STREAM", head(1), block(1, fieldBlock(["x": "y"]))),
    JudgedFrames("trailers have pseudo-header fields", head(1), head(1, ends: true)),
    JudgedFrames(
      "the content of stream 1 differs from its length", head(1, adding: ["content-length": "5"]),
      data(1, 4, ends: true)),
    JudgedFrames(
      "a field block does not begin with the table size 0 or less", settings(.headerTableSize, 0), acknowledgment,
      head(1)),
  ]

  private static let connection: [JudgedFrames] = [
    JudgedFrames("SETTINGS is acknowledged too often", acknowledgment),
    JudgedFrames("the client enables pushes", .client(frame(.settings, [0, 2, 0, 0, 0, 1]))),
    JudgedFrames(
      "PING is acknowledged with other bytes", ping, .client(frame(.ping, .acknowledgement, bytes(UInt64(6))))),
    JudgedFrames("PING has the stream 1", .client(frame(.ping, stream: 1, bytes(UInt64(6))))),
    JudgedFrames("the client sends PUSH_PROMISE", head(1), .client(frame(.pushPromise, stream: 1))),
  ]

  @Test("A client's violation is found, and only that violation", arguments: cases)
  func judgment(_ judged: JudgedFrames) {
    #expect(judged.judged() == [judged.violation].compactMap { $0 })
  }

  @Test("A client whose first frame is not SETTINGS violates the preface")
  func preface() {
    var judge = ClientJudge()
    _ = judge.read(ByteBuffer(bytes: ClientJudge.magic + frame(.ping, bytes(UInt64(1)))))
    #expect(judge.received.violations == ["the first frame is PING"])
  }
}
