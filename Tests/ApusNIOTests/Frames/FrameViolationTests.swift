import HTTPTypes
import Testing

@testable import ApusNIO

/// Frames of a server, and the violation that the reader must throw for these frames.
struct ForbiddenFrames: Sendable, CustomTestStringConvertible {
  let violation: FrameViolation
  let bytes: [UInt8]
  var afterPreface = true

  init(_ violation: FrameViolation, _ frames: [UInt8]..., afterPreface: Bool = true) {
    (self.violation, self.bytes, self.afterPreface) = (violation, Array(frames.joined()), afterPreface)
  }

  var testDescription: String { "\(violation)" }
}

@Suite("HTTP/2 protocol violations")
struct FrameViolationTests {
  static let unknown = FrameType(rawValue: 99)
  static let ok = frame(.headers, .endHeaders, stream: 1, [0x88])

  /// Returns a frame header with the given length, without a payload.
  static func header(_ type: FrameType, _ flags: FrameFlags = [], stream: StreamID = 0, length: Int) -> [UInt8] {
    [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
      + frame(type, flags, stream: stream).dropFirst(3)
  }

  static let prefaces = [
    ForbiddenFrames(.missingPreface(.ping), frame(.ping, [0, 0, 0, 0, 0, 0, 0, 1]), afterPreface: false),
    ForbiddenFrames(.missingPreface(.headers), ok, afterPreface: false),
    ForbiddenFrames(.missingPreface(.settings), frame(.settings, .acknowledgement), afterPreface: false),
    ForbiddenFrames(.missingPreface(.goAway), frame(.goAway, [0, 0, 0, 0, 0, 0, 0, 0]), afterPreface: false),
    ForbiddenFrames(.missingPreface(unknown), frame(unknown), afterPreface: false),
    ForbiddenFrames(.otherProtocol, Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), afterPreface: false),
    ForbiddenFrames(.missingPreface(FrameType(rawValue: 45)), Array("SSH-2.0-OpenSSH".utf8), afterPreface: false),
  ]

  static let lengths =
    [FrameType.data, .headers, .priority, .reset, .settings, .ping, .goAway, .windowUpdate, unknown].map {
      ForbiddenFrames(
        .frameTooLong($0, 16_385), header($0, stream: [.settings, .ping, .goAway].contains($0) ? 0 : 1, length: 16_385))
    } + [0, 3, 5].map { ForbiddenFrames(.wrongLength(.reset, $0), header(.reset, stream: 1, length: $0)) }
    + [0, 3, 5].map { ForbiddenFrames(.wrongLength(.windowUpdate, $0), header(.windowUpdate, length: $0)) }
    + [0, 7, 9].map { ForbiddenFrames(.wrongLength(.ping, $0), header(.ping, length: $0)) }
    + [1, 5, 7].map { ForbiddenFrames(.wrongLength(.settings, $0), header(.settings, length: $0)) }
    + [1, 6].map { ForbiddenFrames(.wrongLength(.settings, $0), header(.settings, .acknowledgement, length: $0)) }
    + [0, 7].map { ForbiddenFrames(.wrongLength(.goAway, $0), header(.goAway, length: $0)) }
    + [
      ForbiddenFrames(.wrongLength(.data, 0), frame(.data, .padded, stream: 1)),
      ForbiddenFrames(.wrongLength(.headers, 0), frame(.headers, [.padded, .endHeaders], stream: 1)),
      ForbiddenFrames(.wrongLength(.headers, 4), frame(.headers, [.priority, .endHeaders], stream: 1, [0, 0, 0, 0])),
      ForbiddenFrames(
        .wrongLength(.headers, 5), frame(.headers, [.priority, .padded, .endHeaders], stream: 1, [0, 0, 0, 0, 0])),
    ]

  static let streams =
    [FrameType.data, .headers, .reset, .priority].map {
      ForbiddenFrames(.wrongStream($0, 0), header($0, length: 4))
    }
    + [FrameType.data, .headers, .reset, .windowUpdate].map {
      ForbiddenFrames(.wrongStream($0, 2), header($0, stream: 2, length: 4))
    }
    + [FrameType.settings, .ping, .goAway].map {
      ForbiddenFrames(.wrongStream($0, 1), header($0, stream: 1, length: 8))
    }
    + [
      ForbiddenFrames(.push(1), frame(.pushPromise, .endHeaders, stream: 1, [0, 0, 0, 2, 0x82])),
      ForbiddenFrames(.push(0), frame(.pushPromise)),
    ]

  static let paddings = [
    ForbiddenFrames(.paddingTooLong(.data, 1), frame(.data, .padded, stream: 1, [1])),
    ForbiddenFrames(.paddingTooLong(.data, 1), frame(.data, .padded, stream: 1, [3, 0, 0])),
    ForbiddenFrames(.paddingTooLong(.data, 1), frame(.data, .padded, stream: 1, [255, 0, 0])),
    ForbiddenFrames(.paddingTooLong(.headers, 1), frame(.headers, [.padded, .endHeaders], stream: 1, [2, 0x88])),
    ForbiddenFrames(
      .paddingTooLong(.headers, 1),
      frame(.headers, [.padded, .priority, .endHeaders], stream: 1, [2, 0, 0, 0, 0, 0, 0x88])),
  ]

  static let blocks =
    [FrameType.data, .headers, .priority, .reset, .settings, .ping, .windowUpdate, unknown].map {
      ForbiddenFrames(.interruptedBlock($0, 1), frame(.headers, stream: 1, [0x88]), header($0, stream: 1, length: 0))
    } + [
      ForbiddenFrames(
        .interruptedBlock(.continuation, 1), frame(.headers, stream: 1, [0x88]),
        frame(.continuation, .endHeaders, stream: 3, [0x88])),
      ForbiddenFrames(
        .interruptedBlock(.goAway, 1), frame(.headers, stream: 1), frame(.continuation, stream: 1, [0x88]),
        header(.goAway, length: 8)),
      ForbiddenFrames(.unexpectedContinuation(1), frame(.continuation, .endHeaders, stream: 1, [0x88])),
      ForbiddenFrames(.unexpectedContinuation(1), ok, frame(.continuation, .endHeaders, stream: 1, [0x88])),
      ForbiddenFrames(
        .unexpectedContinuation(1), frame(.headers, stream: 1, [0x88]),
        frame(.continuation, .endHeaders, stream: 1, literal("a", "b")), frame(.continuation, stream: 1, [0x88])),
      ForbiddenFrames(.wrongStream(.continuation, 0), frame(.continuation, .endHeaders, [0x88])),
      ForbiddenFrames(
        .compression(.unknownIndex(62), 1), frame(.headers, .endHeaders, stream: 1, [0x88, 0xBE])),
      ForbiddenFrames(
        .compression(.truncated, 5), frame(.headers, stream: 5, [0x88, 0x00]),
        frame(.continuation, .endHeaders, stream: 5, [0x01])),
      ForbiddenFrames(
        .compression(.tableSizeTooLarge(4097), 1), frame(.headers, .endHeaders, stream: 1, [0x3F, 0xE2, 0x1F, 0x88])),
    ]

  @Test(
    "Forbidden frames are a connection error regardless of how the input is split",
    arguments: prefaces + lengths + streams + paddings + blocks)
  func forbidden(_ example: ForbiddenFrames) {
    let bytes = example.bytes
    let whole = ReadFrames(bytes, afterPreface: example.afterPreface)
    #expect(whole.violation == example.violation)
    #expect(ReadFrames(bytes, cuts: Array(0..<bytes.count), afterPreface: example.afterPreface) == whole)
    for cut in bytes.indices { #expect(ReadFrames(bytes, cuts: [cut], afterPreface: example.afterPreface) == whole) }
    #expect(example.violation.scope == .connection)
  }

  @Test("Each violation has the matching HTTP/2 error code and a distinct description")
  func codes() {
    let codes: [(FrameViolation, HTTP2ErrorCode)] = [
      (.missingPreface(.ping), .protocolError), (.otherProtocol, .protocolError),
      (.frameTooLong(.data, 1), .frameSizeError),
      (.wrongLength(.ping, 7), .frameSizeError), (.wrongPriorityLength(4, 1), .frameSizeError),
      (.wrongStream(.data, 0), .protocolError), (.paddingTooLong(.data, 1), .protocolError),
      (.unexpectedContinuation(1), .protocolError), (.interruptedBlock(.data, 1), .protocolError),
      (.tooManyContinuations(1), .enhanceYourCalm), (.idleStream(.data, 1), .protocolError),
      (.closedStream(.data, 1), .streamClosed), (.earlyContent(1), .protocolError),
      (.unexpectedContent(1), .protocolError), (.windowExceeded(0), .flowControlError),
      (.windowOverflow(1), .flowControlError), (.zeroIncrement(1), .protocolError),
      (.blockTooLarge(1), .enhanceYourCalm), (.push(1), .protocolError),
      (.forbiddenSetting(Setting(.enablePush, 1)), .protocolError),
      (.forbiddenSetting(Setting(.initialWindowSize, 1 << 31)), .flowControlError), (.flood(.ping), .enhanceYourCalm),
      (.compression(.truncated, 1), .compressionError), (.fields(FieldFault(.missingStatus), 1), .protocolError),
      (.fields(FieldFault(.tooManyFields), 1), .enhanceYourCalm),
    ]
    for (violation, code) in codes { #expect(violation.code == code) }
    #expect(Set(codes.map { "\($0.0)" }).count == codes.count)
  }

  @Test("Violations of a single response are stream errors, violations of the framing are connection errors")
  func scopes() {
    #expect(FrameViolation.windowExceeded(3).scope == .stream(3))
    #expect(FrameViolation.windowExceeded(0).scope == .connection)
    #expect(FrameViolation.closedStream(.data, 3).scope == .connection)
    #expect(FrameViolation.fields(FieldFault(.missingStatus), 5).scope == .stream(5))
    #expect(FrameViolation.wrongPriorityLength(4, 7).scope == .stream(7))
    #expect(FrameViolation.compression(.truncated, 5).scope == .connection)
  }

  @Test("The description of a violation contains the frame type, the stream or the setting")
  func texts() {
    #expect(
      "\(FrameViolation.paddingTooLong(.headers, 17))" == "the padding of HEADERS of stream 17 exceeds its payload")
    #expect("\(FrameViolation.wrongLength(.windowUpdate, 5))" == "WINDOW_UPDATE has 5 bytes")
    #expect("\(FrameViolation.flood(Self.unknown))".contains("the unknown frame 99"))
    #expect("\(FrameViolation.forbiddenSetting(Setting(.maximumFrameSize, 3)))".contains("SETTINGS_MAX_FRAME_SIZE"))
  }
}
