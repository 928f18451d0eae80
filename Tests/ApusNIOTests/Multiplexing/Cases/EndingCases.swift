import ApusCore
import Foundation
import HTTPTypes

@testable import ApusNIO

/// Prefaces, closed and silent connections, and cancelled calls (RFC 9113 §3.4, §5.4).
enum EndingCases {
  static let all = prefaces + closes + silence + cancels

  // MARK: Prefaces

  /// The first frame of the server breaks a rule.
  private static func preface(_ name: String, _ bytes: [UInt8], _ violation: FrameViolation) -> HostileCase {
    HostileCase(name, "3.4", raw: [.send(bytes), .await(.goAway)], .violation(violation, nil)).executed(0...1)
  }

  private static let prefaces: [HostileCase] = [
    preface(
      "A response of HTTP/1.1 is a connection error", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), .otherProtocol),
    preface(
      "A response of HTTP/1.0 is a connection error", Array("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8),
      .otherProtocol),
    preface("Zero bytes are a connection error", [UInt8](repeating: 0, count: 100), .missingPreface(.data)),
    preface(
      "The greeting of SSH is a connection error", Array("SSH-2.0-OpenSSH_9.2\r\n".utf8),
      .missingPreface(FrameType(rawValue: 0x2D))),
    preface(
      "The client's preface as an echo is a connection error", ClientJudge.magic,
      .missingPreface(FrameType(rawValue: 0x20))),
    preface(
      "HTML text is a connection error", Array("<html><body>not found".utf8), .missingPreface(FrameType(rawValue: 0x6D))
    ),
    preface(
      "Alerts of TLS are a connection error", [0x15, 3, 3, 0, 2, 2, 40, 0x15, 3, 3, 0, 2, 1, 0], .missingPreface(.data)),
    preface("PING as the first frame is a connection error", frame(.ping, bytes(UInt64(1))), .missingPreface(.ping)),
    preface(
      "GOAWAY as the first frame is a connection error", frame(.goAway, bytes(UInt64(0))), .missingPreface(.goAway)),
    preface("HEADERS as the first frame is a connection error", responseFrames(1), .missingPreface(.headers)),
    preface(
      "WINDOW_UPDATE as the first frame is a connection error", frame(.windowUpdate, bytes(UInt32(1))),
      .missingPreface(.windowUpdate)),
    preface(
      "An acknowledgment of SETTINGS as the first frame is a connection error", frame(.settings, .acknowledgement),
      .missingPreface(.settings)),
    preface(
      "An unknown first frame is a connection error", frame(FrameType(rawValue: 0xFA)),
      .missingPreface(FrameType(rawValue: 0xFA))),
    preface(
      "SETTINGS on stream 1 as the first frame is a connection error", frame(.settings, stream: 1),
      .wrongStream(.settings, 1)),
    preface(
      "SETTINGS of 5 bytes as the first frame is a connection error", frame(.settings, [1, 2, 3, 4, 5]),
      .wrongLength(.settings, 5)),
    HostileCase(
      "A server that sends its settings after the request is understood", "3.4",
      raw: [.await(.head(1)), .settings(), .await(.end(1)), .respond(1)], .ok
    ).changed { $0.scripts[0].acknowledges = false },
    HostileCase(
      "A close inside the server's settings loses the call", "3.4",
      raw: [.await(.end(1)), .send([0, 0, 6, 4, 0]), .close], .closed()),
    HostileCase(
      "An alert of TLS of seven bytes and a close lose the call", "3.4",
      raw: [.await(.end(1)), .send([0x15, 3, 3, 0, 2, 2, 40]), .close], .closed()),
    HostileCase("A close before any byte loses the call", "3.4", raw: [.await(.end(1)), .close], .closed()),
    HostileCase("A reset of TCP before any byte loses the call", "3.4", raw: [.await(.end(1)), .abort], .closed()),
    HostileCase(
      "A connection that the server closes at once loses the call, or the call is sent again", "3.4", raw: [.close],
      Expected.failure(.connectionLost, nil).or(.ok).with(connections: 2...2)
    ).executed(0...1),
  ]

  // MARK: Closed connections

  private static let hello: [Step] = [.head(1), .data(1, "hel")]

  private static let closes: [HostileCase] = [
    HostileCase("A close before the head loses the call", "5.4", [.close], .closed()),
    HostileCase("A close inside the content loses the call", "5.4", hello + [.close], .closed(.responded)),
    HostileCase(
      "A close inside streamed content loses the call", "5.4", hello + [.close], .closed(.responded)
    ).calling(.streamed),
    HostileCase(
      "A close after all content that Content-Length announced, but without END_STREAM, loses the call", "8.1",
      [.head(1, 200, ["content-length": "5"]), .data(1, "hello"), .close], .closed(.responded)),
    HostileCase(
      "A close after an interim response loses the call", "8.1", [.head(1, 103), .close], .closed()),
    HostileCase(
      "A close inside a frame header loses the call", "5.4", [.head(1), .send([0, 0, 5, 0]), .close],
      .closed(.responded)),
    HostileCase(
      "A close inside DATA loses the call", "5.4", [.head(1), .send([0, 0, 5, 0, 1, 0, 0, 0, 1, 0x68]), .close],
      .closed(.responded)),
    HostileCase(
      "A close inside a field block loses the call", "5.4", [.frame(.headers, [], 1, headBlock()), .close], .closed()),
    HostileCase("A reset of TCP before the head loses the call", "5.4", [.abort], .closed()),
    HostileCase("A half-closed connection before the head loses the call", "5.4", [.halfClose], .closed()),
    HostileCase(
      "A half-closed connection inside the content loses the call", "5.4", hello + [.halfClose], .closed(.responded)),
    HostileCase(
      "A half-closed connection after the response moves the next call", "5.4", [.send(responseFrames(1)), .halfClose],
      .ok.with(connections: 2...2)),
    HostileCase(
      "A close after the response moves the next call", "5.4", [.respond(1), .close], .ok.with(connections: 2...2)),
    HostileCase(
      "A close loses all calls of the connection", "5.4", [.await(.end(3)), .await(.end(5)), .head(3), .close],
      .closed()
    ).calling(.get, .get.expecting(.closed(.responded)), .get),
    HostileCase(
      "A GET request on a connection that has served a call is sent again after a close", "8.7",
      [.respond(1), .await(.end(3)), .close], .ok.with(connections: 2...2)
    ).calling(.get, .get).oneByOne().executed(3...3),
    HostileCase(
      "A POST request on a connection that has served a call is not sent again after a close", "8.7",
      [.respond(1), .await(.end(3)), .close], .closed()
    ).calling(.get.expecting(.ok), .post(100)).oneByOne(),
    HostileCase(
      "A GET request whose response has begun is not sent again after a close", "8.7",
      [.respond(1), .await(.end(3)), .head(3), .close], .closed(.responded)
    ).calling(.get.expecting(.ok), .get).oneByOne(),
    HostileCase(
      "A GET request is sent again once", "8.7", [.respond(1), .await(.end(3)), .close],
      .closed().with(connections: 3...3)
    ).calling(.get.expecting(.ok), .get).oneByOne().executed(3...3)
      .changed { $0.scripts.append(Script([.settings(), .await(.end(1)), .close])) },
  ]

  // MARK: Silence

  private static let brief: @Sendable (inout NIOTransport.Options) -> Void = {
    ($0.firstByteTimeout, $0.stallTimeout) = (.milliseconds(200), .milliseconds(200))
  }
  /// For servers that send something before they stop: it may take longer on a busy machine.
  private static let slow: @Sendable (inout NIOTransport.Options) -> Void = { $0.stallTimeout = .milliseconds(500) }
  private static let expired = Expected.failure(.timeout).with(.reset(1, [.cancel])).with(connections: 1...2)

  private static let silence: [HostileCase] = [
    HostileCase(
      "A server that sends nothing at all is a timeout", "5.4", raw: [.await(.failed(1)), .close],
      expired.with(.anything)
    ).options(brief).changed { ($0.nextMayFail, $0.scripts[0].acknowledges) = (true, false) },
    HostileCase("A request without a response is a timeout", "5.4", [], expired).options(brief),
    HostileCase("A response that ends after an interim response is a timeout", "8.1", [.head(1, 103)], expired).options(
      brief),
    HostileCase(
      "A head without content is a timeout", "5.4", [.head(1)],
      .failure(.timeout, .responded).with(.reset(1, [.cancel])).with(connections: 1...2)
    ).options(slow),
    HostileCase(
      "Content that stops is a timeout", "5.4", hello,
      .failure(.timeout, .responded).with(.reset(1, [.cancel])).with(connections: 1...2)
    ).options(slow),
    HostileCase(
      "Streamed content that stops is a timeout", "5.4", hello,
      .failure(.timeout, .responded).with(.reset(1, [.cancel])).with(connections: 1...2)
    ).options(slow).calling(.streamed),
    HostileCase(
      "A silent stream leaves the other stream alone", "5.4", [.await(.end(3)), .respond(3)], expired
    ).options(brief).calling(.get, .get.patient.expecting(.ok)),
    HostileCase(
      "A server that does not acknowledge the client's PING and SETTINGS can respond", "6.5.3", [.respond(1)], .ok
    ).changed { $0.scripts[0].acknowledges = false },
  ]

  // MARK: Cancelled calls

  private static let cancelled = Expected.failure(.cancelled).with(.reset(1, [.cancel]))

  private static let cancels: [HostileCase] = [
    HostileCase("A cancelled call resets its stream", "5.4.2", [.await(.reset(1))], cancelled).calling(
      .reading(.cancelled(.end(1)))),
    HostileCase(
      "A call that is cancelled inside the content resets its stream", "5.4.2", hello,
      .failure(.cancelled, nil).with(.reset(1, [.cancel]))
    ).calling(.reading(.cancelled(.played))),
    HostileCase(
      "A caller that stops to read resets its stream", "5.4.2", hello + [.await(.reset(1))],
      .dropped.with(.reset(1, [.cancel]))
    ).calling(.reading(.dropped)),
    HostileCase(
      "A call that is cancelled during its upload resets its stream", "5.4.2",
      head: [.await(.content(1, 1)), .await(.reset(1))], cancelled
    ).calling(.post(1_000_000).reading(.cancelled(.content(1, 1)))).withoutCredits(),
    HostileCase(
      "A call that is cancelled while it waits for a window resets its stream", "5.4.2",
      head: [.await(.content(1, 65_535)), .await(.reset(1))],
      cancelled
    ).calling(.post(1_000_000).reading(.cancelled(.content(1, 65_535)))).withoutCredits(),
    HostileCase(
      "A response to a cancelled call is ignored", "5.1", [.await(.reset(1)), .respond(1)], cancelled
    ).calling(.reading(.cancelled(.end(1)))),
    HostileCase(
      "Trailers, window updates and RST_STREAM for a cancelled call are ignored", "5.1",
      [
        .await(.reset(1)), .head(1), .data(1, "late", padding: 9), .window(1, 10),
        .fields(1, ["x-sum": "4"], ends: true), .reset(1, .cancel),
      ],
      cancelled
    ).calling(.reading(.cancelled(.end(1)))),
    HostileCase(
      "A malformed response to a cancelled call is ignored", "5.1",
      [.await(.reset(1)), .fields(1, ["A": "b"]), .window(1, 0)], cancelled
    ).calling(.reading(.cancelled(.end(1)))),
    HostileCase(
      "Each of 10 cancelled calls resets its stream", "5.4.2", [.await(.end(19)), .await(.reset(19))],
      .failure(.cancelled).with(.anything)
    ).calling([HostileCall](repeating: .reading(.cancelled(.end(19))), count: 10)),
    HostileCase(
      "A cancelled call leaves the other stream alone", "5.4.2", [.await(.end(3)), .await(.reset(1)), .respond(3)],
      cancelled
    ).calling(.reading(.cancelled(.end(3))), .get.expecting(.ok)),
  ]
}
