import ApusCore
import Foundation
import HTTPTypes

@testable import ApusNIO

/// Flow-control windows in both directions (RFC 9113 §5.2, §6.9).
enum WindowCases {
  static let all = updates + uploads + shrinking + stalls + downloads + excess

  // MARK: Window updates

  private static let largest = UInt32(Int32.max)

  private static let updates: [HostileCase] = [
    HostileCase(
      "A window increment of 0 on a stream is a stream error", "6.9", [.await(.end(3)), .window(1, 0), .respond(3)],
      .streamError(.protocolError, .maybeSent)
    ).calling(.get, .get.expecting(.ok)),
    HostileCase(
      "A window increment of 0 on the connection is a connection error", "6.9", [.window(0, 0)], .connectionError()),
    HostileCase(
      "A stream's window above 2^31 - 1 is a stream error", "6.9.1",
      [.await(.end(3)), .window(1, largest), .respond(3)],
      .streamError(.flowControlError, .maybeSent)
    ).calling(.get, .get.expecting(.ok)),
    HostileCase(
      "A connection's window above 2^31 - 1 is a connection error", "6.9.1", [.window(0, largest)],
      .connectionError(.flowControlError)),
    HostileCase(
      "A stream's window of 2^31 - 1 is accepted", "6.9.1",
      head: [.window(1, largest - 65_535), .await(.end(1)), .respond(1)], .ok
    ).calling(.post(1000)).withoutCredits(),
    HostileCase(
      "A connection's window of 2^31 - 1 is accepted", "6.9.1",
      raw: [.settings(), .window(0, largest - 65_535), .await(.end(1)), .respond(1)], .ok
    ).calling(.post(1000)).withoutCredits(),
    HostileCase(
      "An initial window that makes a stream's window exceed 2^31 - 1 is a connection error", "6.9.2",
      [.window(1, largest - 65_535), .settings((.initialWindowSize, 65_536))], .connectionError(.flowControlError)),
    HostileCase(
      "A window update after the end of the request is accepted", "6.9",
      [.window(1, 1000), .window(0, 1000), .respond(1)], .ok
    ).calling(.post(1000)),
  ]

  // MARK: Uploads

  private static let uploads: [HostileCase] = [
    HostileCase(
      "Content is sent in frames of one byte if the window grows by one byte", "6.9",
      raw: [.settings((.initialWindowSize, 1)), .await(.settings(1)), .await(.end(1)), .respond(1)], .ok
    ).calling(.post(50)),
    HostileCase(
      "Content is sent as the windows grow with each frame", "6.9.1", raw: [.settings(), .await(.end(1)), .respond(1)],
      .ok
    ).calling(.post(3_000_000)),
    HostileCase(
      "Content of unknown length is sent as the windows grow with each frame", "6.9.1",
      raw: [.settings(), .await(.end(1)), .respond(1)], .ok
    ).calling(.stream(300, of: 1000)),
    HostileCase(
      "Content waits for a connection's window that 65,535 bytes have used up", "6.9.1",
      raw: [
        .settings((.initialWindowSize, 1 << 20)), .await(.settings(1)), .await(.content(1, 65_535)), .ping(1),
        .await(.pings(1)),
        .window(0, 34_465), .await(.end(1)), .respond(1),
      ], .ok
    ).calling(.post(100_000)).withoutCredits(),
    HostileCase(
      "Content waits for an initial window of 0 that SETTINGS raise", "6.9.2",
      raw: [
        .settings((.initialWindowSize, 0)), .await(.settings(1)), .await(.head(1)),
        .settings((.initialWindowSize, 2000)),
        .await(.end(1)), .respond(1),
      ], .ok
    ).calling(.post(1000)).withoutCredits(),
    HostileCase(
      "Content waits for an initial window of 0 that WINDOW_UPDATE raises", "6.9.2",
      raw: [
        .settings((.initialWindowSize, 0)), .await(.settings(1)), .await(.head(1)), .window(1, 500),
        .await(.content(1, 500)),
        .window(1, 500), .await(.end(1)), .respond(1),
      ], .ok
    ).calling(.post(1000)).withoutCredits(),
    HostileCase(
      "A request without content needs no window", "6.9",
      raw: [.settings((.initialWindowSize, 0)), .await(.settings(1)), .await(.end(1)), .respond(1)], .ok),
    HostileCase(
      "An upload without window leaves another upload alone", "5.2.1",
      raw: [
        .settings((.initialWindowSize, 10)), .await(.settings(1)), .await(.content(1, 10)), .await(.content(3, 10)),
        .window(3, 990),
        .await(.end(3)), .respond(3), .window(1, 990), .await(.end(1)), .respond(1),
      ], .ok
    ).calling(.post(1000), .post(1000)).withoutCredits(),
    HostileCase(
      "Frames grow with the server's maximum frame size, and shrink again", "6.5.2",
      raw: [
        .settings((.maximumFrameSize, 1 << 20), (.initialWindowSize, 1 << 20)), .await(.settings(1)),
        .await(.content(1, 100_000)),
        .settings((.maximumFrameSize, 16_384), (.initialWindowSize, 1 << 20)), .await(.end(1)), .respond(1),
      ], .ok
    ).calling(.post(2_000_000)),
  ]

  // MARK: Shrinking windows

  private static let shrinking: [HostileCase] = [
    HostileCase(
      "Content waits while SETTINGS have made the window negative", "6.9.2",
      head: [
        .await(.content(1, 65_535)), .window(0, 1 << 20), .settings((.initialWindowSize, 1000)), .await(.settings(2)),
        .window(1, 64_535), .ping(1), .await(.pings(1)), .window(1, 10), .await(.content(1, 65_545)),
        .window(1, 1 << 20),
        .await(.end(1)), .respond(1),
      ], .ok
    ).calling(.post(200_000)).withoutCredits(),
    HostileCase(
      "A window of a stream that SETTINGS lower to 0 and raise again is usable again", "6.9.2",
      head: [
        .await(.content(1, 65_535)), .window(0, 1 << 20), .settings((.initialWindowSize, 0)),
        .settings((.initialWindowSize, 100_000)),
        .await(.content(1, 100_000)), .settings((.initialWindowSize, 1 << 20)), .await(.end(1)), .respond(1),
      ], .ok
    ).calling(.post(200_000)).withoutCredits(),
    HostileCase(
      "A window that shrinks between frames is respected", "6.9.2",
      head: [
        .window(0, 1 << 21), .window(1, 1 << 20), .await(.content(1, 16_384)), .settings((.initialWindowSize, 0)),
        .await(.settings(2)),
        .window(1, 1 << 20), .await(.end(1)), .respond(1),
      ], .ok
    ).calling(.post(1_500_000)).withoutCredits(),
    HostileCase(
      "A lowered initial window applies to later streams", "6.9.2",
      [
        .settings((.initialWindowSize, 5)), .await(.settings(2)), .respond(1), .await(.content(3, 5)), .window(3, 5),
        .await(.end(3)),
        .respond(3),
      ], .ok
    ).calling(.get, .post(10)).withoutCredits().oneByOne(),
  ]

  // MARK: Windows that never grow

  private static let stalls: [HostileCase] = [
    HostileCase(
      "An upload whose windows never grow is a timeout", "5.2.2", head: [],
      .failure(.timeout).with(.reset(1, [.cancel]))
    ).calling(.post(100_000)).withoutCredits().options { $0.stallTimeout = .milliseconds(200) },
    HostileCase(
      "An upload with an initial window of 0 is a timeout", "5.2.2",
      raw: [.settings((.initialWindowSize, 0)), .await(.settings(1))],
      .failure(.timeout).with(.reset(1, [.cancel]))
    ).calling(.post(10)).withoutCredits().options {
      // The content may leave before the settings arrive.
      ($0.firstByteTimeout, $0.stallTimeout) = (.milliseconds(200), .milliseconds(200))
    },
    HostileCase(
      "An upload after whose early response the windows never grow is a timeout", "8.1",
      head: [.head(1, 201), .data(1, "stored", ends: true)],
      .failure(.connectionLost, .responded).or(.failure(.timeout, .responded)).with(.reset(1, [.cancel]))
    ).calling(.post(100_000)).withoutCredits().options { $0.stallTimeout = .milliseconds(500) },
  ]

  // MARK: Downloads

  private static let mebibyte = 1 << 20

  private static let downloads: [HostileCase] = [
    HostileCase(
      "The windows grow while 24 MiB are read", "6.9",
      [.head(1), .sendContent(1, count: 24 * mebibyte), .await(.contentSent(1))],
      .content(count: 24 * mebibyte)
    ).calling(.streamed),
    HostileCase(
      "Padding returns to the windows", "6.9.1",
      [.head(1), .sendContent(1, count: 80_000, piece: 1, padding: 255), .await(.contentSent(1))],
      .content(count: 80_000)),
    HostileCase(
      "Content that waits for its reader blocks the server, and continues when it is read", "5.2",
      [.head(1), .sendContent(1, count: 12 * mebibyte), .await(.contentSent(1))], .content(count: 12 * mebibyte)
    ).calling(.reading(.after(.blocked(1)))),
    HostileCase(
      "A stream whose reader stops leaves another stream alone", "5.2",
      [
        .await(.end(3)), .head(1), .sendContent(1, count: 12 * mebibyte), .await(.blocked(1)), .head(3),
        .sendContent(3, count: 3 * mebibyte), .await(.contentSent(3)), .await(.contentSent(1)),
      ], .content(count: 3 * mebibyte)
    ).calling(.reading(.after(.contentSent(3))).expecting(.content(count: 12 * mebibyte)), .streamed),
    HostileCase(
      "Content that arrived for streams whose readers stopped returns to the connection's window", "6.9.1",
      [.await(.end(39))] + each(20) { .head($0) } + each(20) { .sendContent($0, count: 300_000) } + lastDownload,
      .dropped.with(.anything)
    ).calling([HostileCall](repeating: .reading(.dropped), count: 20) + [lastCall]),
    HostileCase(
      "Content of streams that the client has reset returns to the connection's window", "6.9.1",
      [.await(.end(39))] + each(20) { .await(.reset($0)) } + each(20) { .head($0) }
        + each(20) { .sendContent($0, count: mebibyte) } + lastDownload,
      .failure(.cancelled).with(.anything)
    ).calling([HostileCall](repeating: .reading(.cancelled(.end(39))), count: 20) + [lastCall]),
  ]

  /// A step on each of the first 20 streams.
  /// Returns a step for each of the first streams.
  private static func each(_ count: StreamID, _ step: (StreamID) -> Step) -> [Step] {
    stride(from: 1, to: 2 * count, by: 2).map(step)
  }

  private static let lastDownload: [Step] = [
    .await(.end(41)), .head(41), .sendContent(41, count: 16 * mebibyte), .await(.contentSent(41)),
  ]
  private static let lastCall = HostileCall.streamed.expecting(.content(count: 16 * mebibyte))

  // MARK: Too much content

  private static let excess: [HostileCase] = [
    HostileCase(
      "Content beyond a stream's window is an error", "6.9.1",
      [
        .head(1), .flood(frame(.data, stream: 1, [UInt8](repeating: 7, count: 16_384)), count: 2000),
        .await(.failed(1)),
      ],
      .failure(.malformedResponse, .responded).with(.resetOrGoAway(.flowControlError)).with(connections: 1...2)
    ).calling(.reading(.after(.failed(1)))),
    HostileCase(
      "Content beyond the connection's window is a connection error", "6.9.1",
      [.await(.end(55))] + each(28) { .head($0) } + each(28) { .flood(mebibyteFrames($0), count: 1) }
        + [.await(.goAway)],
      .failure(.malformedResponse, .responded).with(.mayGoAway(.flowControlError)).with(connections: 2...2)
    ).calling([HostileCall](repeating: .reading(.after(.goAway)), count: 28)),
  ]

  /// Returns DATA frames with 1 MiB, the initial window of a stream.
  private static func mebibyteFrames(_ stream: StreamID) -> [UInt8] {
    [[UInt8]](repeating: frame(.data, stream: stream, [UInt8](repeating: 7, count: 16_384)), count: 64).flatMap { $0 }
  }
}
