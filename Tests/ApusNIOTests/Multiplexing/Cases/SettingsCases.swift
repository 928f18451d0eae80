import ApusCore
import HTTPTypes

@testable import ApusNIO

/// Settings, and changes of settings (RFC 9113 §6.5).
enum SettingsCases {
  static let all = values + acknowledgments + tables + concurrency

  private static func forbidden(_ setting: Setting.Identifier, _ value: UInt32) -> HostileCase {
    HostileCase(
      "\(setting) with the value \(value) is a connection error", "6.5.2", [.settings((setting, value))],
      .violation(.forbiddenSetting(Setting(setting, value))))
  }

  private static let values: [HostileCase] = [
    forbidden(.enablePush, 1), forbidden(.enablePush, 2), forbidden(.initialWindowSize, 1 << 31),
    forbidden(.initialWindowSize, .max), forbidden(.maximumFrameSize, 16_383), forbidden(.maximumFrameSize, 1 << 24),
    forbidden(.maximumFrameSize, 0),
    HostileCase(
      "A forbidden value in the first SETTINGS is a connection error", "6.5.2",
      raw: [.settings((.enablePush, 1)), .await(.goAway)],
      .violation(.forbiddenSetting(Setting(.enablePush, 1)), nil)
    ).executed(0...1),
    HostileCase(
      "The largest permitted values are accepted", "6.5.2",
      raw: [
        .settings(
          (.headerTableSize, .max), (.enablePush, 0), (.maximumStreams, .max), (.initialWindowSize, UInt32(Int32.max)),
          (.maximumFrameSize, (1 << 24) - 1), (.maximumFieldBytes, .max)), .await(.settings(1)), .await(.end(1)),
        .respond(1),
      ], .ok
    ).calling(.post(100_000)),
    HostileCase(
      "Unknown settings are ignored", "6.5.2",
      [.settings((Setting.Identifier(rawValue: 0), 1), (Setting.Identifier(rawValue: 0xFFFF), .max)), .respond(1)], .ok),
    HostileCase(
      "The last of several values of a setting applies", "6.5.3",
      raw: [
        .settings((.initialWindowSize, 0), (.maximumStreams, 0), (.initialWindowSize, 65_535), (.maximumStreams, 10)),
        .await(.end(1)), .respond(1),
      ], .ok
    ).calling(.post(1000)),
    HostileCase(
      "A small maximum of field bytes is only a hint", "6.5.2",
      raw: [.settings((.maximumFieldBytes, 10)), .await(.settings(1)), .await(.end(1)), .respond(1)], .ok),
  ]

  private static let acknowledgments: [HostileCase] = [
    HostileCase(
      "Each of 100 SETTINGS frames is acknowledged once", "6.5.3",
      [Step](repeating: .settings((.maximumStreams, 50)), count: 100) + [.await(.settings(101)), .respond(1)], .ok),
    HostileCase(
      "A second acknowledgment of the client's SETTINGS is no reason to end the call, or a connection error", "6.5.3",
      [.frame(.settings, .acknowledgement), .respond(1)],
      .ok.with(.mayGoAway(.protocolError)).or(.failure(.malformedResponse).with(connections: 2...2))),
    HostileCase(
      "A server that never acknowledges the client's SETTINGS can respond", "6.5.3", [.respond(1)], .ok
    ).changed { $0.scripts[0].acknowledges = false },
    HostileCase(
      "SETTINGS in the middle of the content are acknowledged", "6.5.3",
      [
        .head(1), .data(1, "hel"), .settings((.initialWindowSize, 10)), .await(.settings(2)),
        .data(1, "lo", ends: true),
      ], .ok),
  ]

  // MARK: The table of request fields

  /// Responds to three requests, one after the other.
  private static let three: [Step] = [
    .await(.end(1)), .respond(1), .await(.end(3)), .respond(3), .await(.end(5)), .respond(5),
  ]

  private static func table(_ name: String, _ size: UInt32) -> HostileCase {
    HostileCase(
      name, "7541/4.2", raw: [.settings((.headerTableSize, size)), .await(.settings(1))] + three, .ok
    ).calling(.get, .post(10), .get).oneByOne()
  }

  private static let tables: [HostileCase] = [
    table("Requests use no dynamic table of size 0", 0), table("Requests use a table of 64 bytes", 64),
    table("Requests use a table of 1 MiB", 1 << 20),
    HostileCase(
      "A table size that becomes 0 and 4096 again is announced in the next request", "7541/4.2",
      [
        .respond(1), .settings((.headerTableSize, 0)), .settings((.headerTableSize, 4096)), .ping(1), .await(.pings(1)),
        .await(.end(3)), .respond(3),
      ], .ok
    ).calling(.get, .get).oneByOne(),
  ]

  // MARK: Concurrent streams

  private static let concurrency: [HostileCase] = [
    HostileCase(
      "Calls wait while the server permits one stream", "5.1.2",
      raw: [.settings((.maximumStreams, 1)), .await(.settings(1))] + three,
      .ok
    ).calling(.get, .get, .get).options { $0.maximumConnectionsPerOrigin = 1 },
    HostileCase(
      "A call waits while the server permits no streams", "5.1.2",
      raw: [
        .settings((.maximumStreams, 0)), .await(.settings(1)), .settings((.maximumStreams, 10)), .await(.end(1)),
        .respond(1),
      ],
      .ok
    ).options { $0.maximumConnectionsPerOrigin = 1 },
    HostileCase(
      "A lowered maximum of streams lets open streams end", "5.1.2",
      [
        .await(.end(3)), .await(.end(5)), .settings((.maximumStreams, 1)), .await(.settings(2)), .respond(5),
        .respond(3),
        .respond(1),
      ], .ok
    ).calling(.get, .get, .get),
    HostileCase(
      "A maximum of 0 that is raised again later lets the next call begin", "5.1.2",
      [
        .settings((.maximumStreams, 0)), .await(.settings(2)), .respond(1), .ping(1), .await(.pings(1)),
        .settings((.maximumStreams, 1)),
      ], .ok
    ).options { $0.maximumConnectionsPerOrigin = 1 },
    HostileCase(
      "A second connection carries calls that exceed the server's maximum of streams", "5.1.2",
      raw: [.await(.end(3)), .settings((.maximumStreams, 1)), .reset(3, .refusedStream), .respond(1)],
      .ok.with(connections: 1...2)
    ).calling(.get, .get),
  ]
}
