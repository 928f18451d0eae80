import ApusCore
import HTTPTypes

@testable import ApusNIO

/// Floods of every frame type (RFC 9113 §10.5). The server sends until the client ends the connection.
enum FloodCases {
  static let all = floods + bounded

  private static let count = 200_000
  private static let unknownType = FrameType(rawValue: 0xFA)

  /// A flood that ends the connection with ENHANCE_YOUR_CALM.
  private static func flood(
    _ kind: String, _ frame: [UInt8], after steps: [Step] = [], _ expected: Expected
  ) -> HostileCase {
    HostileCase(
      "A flood of \(kind) frames is a connection error", "10.5",
      steps + [.flood(frame, count: count), .await(.goAway)], expected.with(.mayGoAway(.enhanceYourCalm)))
  }

  private static let floods: [HostileCase] = [
    flood("PING", frame(.ping, bytes(UInt64(1))), .violation(.flood(.ping))),
    flood("PING acknowledgment", frame(.ping, .acknowledgement, bytes(UInt64(1))), .violation(.flood(.ping))),
    flood("SETTINGS", frame(.settings), .violation(.flood(.settings))),
    flood(
      "SETTINGS with many settings", frame(.settings, [UInt8](repeating: 0, count: 6000)),
      .violation(.flood(.settings))),
    flood("WINDOW_UPDATE", frame(.windowUpdate, stream: 1, bytes(UInt32(1))), .violation(.flood(.windowUpdate))),
    flood(
      "the connection's WINDOW_UPDATE", frame(.windowUpdate, bytes(UInt32(1))), .violation(.flood(.windowUpdate))),
    flood("PRIORITY", frame(.priority, stream: 1, [0, 0, 0, 0, 0]), .violation(.flood(.priority))),
    flood("unknown", frame(unknownType), .violation(.flood(unknownType))),
    flood("long unknown", frame(unknownType, [UInt8](repeating: 0, count: 16_000)), .violation(.flood(unknownType))),
    flood("GOAWAY", frame(.goAway, bytes(UInt32(Int32.max)) + bytes(UInt32(0))), .violation(.flood(.goAway))),
    flood("empty DATA", frame(.data, stream: 1), after: [.head(1)], .violation(.flood(.data), .responded)),
    flood(
      "empty padded DATA", frame(.data, .padded, stream: 1, padded([], 255)), after: [.head(1)],
      .violation(.flood(.data), .responded)),
    HostileCase(
      "A flood of CONTINUATION frames is a connection error", "10.5",
      [
        .frame(.headers, [], 1, headBlock()), .flood(frame(.continuation, stream: 1, literal("a", "b")), count: count),
        .await(.goAway),
      ],
      .violation(.tooManyContinuations(1)).with(.mayGoAway(.enhanceYourCalm))),
    HostileCase(
      "A flood of empty CONTINUATION frames is a connection error", "10.5",
      [.frame(.headers, [], 1, headBlock()), .flood(frame(.continuation, stream: 1), count: count), .await(.goAway)],
      .violation(.tooManyContinuations(1)).with(.mayGoAway(.enhanceYourCalm))),
    HostileCase(
      "A flood of interim responses is an error", "9110/15.2",
      [.flood(frame(.headers, .endHeaders, stream: 1, headBlock(103)), count: count), .await(.failed(1))],
      .failure(.malformedResponse).with(.anything).with(connections: 1...2)),
    HostileCase(
      "A flood of RST_STREAM frames ends at most the connection", "10.5",
      [.flood(frame(.reset, stream: 1, bytes(UInt32(2))), count: count)],
      .lost().with(.mayGoAway(.enhanceYourCalm)).with(connections: 1...3)
    ).changed { $0.nextMayFail = true },
    HostileCase(
      "A flood of field blocks for a stream that the client has reset ends at most the connection", "10.5",
      head: [.await(.reset(1)), .flood(frame(.headers, .endHeaders, stream: 1, headBlock()), count: 20_000)],
      .failure(.cancelled).with(.anything).with(connections: 1...3)
    ).calling(.reading(.cancelled(.head(1)))).changed { $0.nextMayFail = true },
  ]

  /// Frames below the limits.
  private static let bounded: [HostileCase] = [
    HostileCase(
      "Each of 900 PING frames is acknowledged", "6.7",
      [.flood(frame(.ping, bytes(UInt64(9))), count: 900), .await(.pings(900)), .respond(1)], .ok),
    HostileCase(
      "900 unknown frames are ignored", "5.5", [.flood(frame(unknownType, [1, 2, 3]), count: 900), .respond(1)], .ok),
    HostileCase(
      "900 empty DATA frames are read", "6.1",
      [.head(1), .flood(frame(.data, stream: 1), count: 900), .data(1, "hello", ends: true)], .ok),
    HostileCase(
      "PING frames beyond the limit are acknowledged while content arrives", "6.7",
      [
        .head(1), .flood(frame(.ping, bytes(UInt64(9))) + frame(.data, stream: 1, [7]), count: 5000),
        .await(.pings(5000)), .data(1, "", ends: true),
      ],
      .content(count: 5000)),
    HostileCase(
      "Many window updates during an upload are accepted", "6.9",
      raw: [.settings((.initialWindowSize, 1)), .await(.settings(1)), .await(.end(1)), .respond(1)], .ok
    ).calling(.post(3000)),
    HostileCase(
      "Responses of one byte in each frame are read", "6.1",
      [.head(1), .flood(frame(.data, stream: 1, [7]), count: 20_000), .data(1, "", ends: true)], .content(count: 20_000)
    ),
  ]
}
