import ApusCore
import HTTPTypes

@testable import ApusNIO

/// Frames of invalid size, stream, order or type (RFC 9113 §4, §5.1, §6).
enum FrameCases {
  static let all = sizes + streams + order + padding + unknown + ignored

  private static let hello = Array("hello".utf8)
  private static let unknownType = FrameType(rawValue: 0xFA)

  /// Returns a frame on a stream whose payload is this number of zero bytes.
  private static func zeros(_ type: FrameType, _ flags: FrameFlags = [], _ stream: StreamID = 0, count: Int) -> Step {
    .frame(type, flags, stream, [UInt8](repeating: 0, count: count))
  }

  // MARK: Sizes

  private static let sizes: [HostileCase] = [
    HostileCase(
      "A DATA frame above the maximum frame size is a connection error", "4.2",
      [.head(1), zeros(.data, [], 1, count: 16_385)], .violation(.frameTooLong(.data, 16_385), .responded)),
    HostileCase(
      "A HEADERS frame above the maximum frame size is a connection error", "4.2",
      [zeros(.headers, .endHeaders, 1, count: 16_385)], .violation(.frameTooLong(.headers, 16_385))),
    HostileCase(
      "An unknown frame above the maximum frame size is a connection error", "4.2",
      [zeros(unknownType, count: 16_385)], .violation(.frameTooLong(unknownType, 16_385))),
    HostileCase(
      "A frame header that announces 16 MiB is a connection error before its payload arrives", "4.2",
      [.send([0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1])], .violation(.frameTooLong(.data, 0xFF_FFFF))),
    HostileCase(
      "A DATA frame of exactly the maximum frame size is read", "4.2",
      [.head(1), .frame(.data, .endStream, 1, [UInt8](repeating: 7, count: 16_384))], .content(count: 16_384)),
    HostileCase(
      "SETTINGS whose length is not a multiple of six is a connection error", "6.5", [zeros(.settings, count: 7)],
      .violation(.wrongLength(.settings, 7))),
    HostileCase(
      "An acknowledgment of SETTINGS with a payload is a connection error", "6.5",
      [zeros(.settings, .acknowledgement, count: 6)], .violation(.wrongLength(.settings, 6))),
    HostileCase(
      "PING of seven bytes is a connection error", "6.7", [zeros(.ping, count: 7)], .violation(.wrongLength(.ping, 7))),
    HostileCase(
      "PING of nine bytes is a connection error", "6.7", [zeros(.ping, count: 9)], .violation(.wrongLength(.ping, 9))),
    HostileCase(
      "RST_STREAM of three bytes is a connection error", "6.4", [zeros(.reset, [], 1, count: 3)],
      .violation(.wrongLength(.reset, 3))),
    HostileCase(
      "RST_STREAM of five bytes is a connection error", "6.4", [zeros(.reset, [], 1, count: 5)],
      .violation(.wrongLength(.reset, 5))),
    HostileCase(
      "WINDOW_UPDATE of three bytes is a connection error", "6.9", [zeros(.windowUpdate, count: 3)],
      .violation(.wrongLength(.windowUpdate, 3))),
    HostileCase(
      "WINDOW_UPDATE of five bytes is a connection error", "6.9", [zeros(.windowUpdate, [], 1, count: 5)],
      .violation(.wrongLength(.windowUpdate, 5))),
    HostileCase(
      "GOAWAY of seven bytes is a connection error", "6.8", [zeros(.goAway, count: 7)],
      .violation(.wrongLength(.goAway, 7))
    ).executed(0...1),
    HostileCase(
      "PRIORITY of four bytes is a stream error", "6.3", [zeros(.priority, [], 1, count: 4)],
      .violation(.wrongPriorityLength(4, 1))),
    HostileCase(
      "PRIORITY of six bytes on one stream leaves the other stream alone", "6.3",
      [.await(.end(3)), zeros(.priority, [], 1, count: 6), .respond(3)],
      .violation(.wrongPriorityLength(6, 1))
    ).calling(.get, .get.expecting(.ok)),
    HostileCase(
      "A padded HEADERS frame without a payload is a connection error", "6.2",
      [.frame(.headers, [.padded, .endHeaders], 1)], .violation(.wrongLength(.headers, 0))),
    HostileCase(
      "A HEADERS frame too short for its priority fields is a connection error", "6.2",
      [zeros(.headers, [.priority, .endHeaders], 1, count: 4)], .violation(.wrongLength(.headers, 4))),
    HostileCase(
      "A padded DATA frame without a payload is a connection error", "6.1", [.head(1), .frame(.data, .padded, 1)],
      .violation(.wrongLength(.data, 0), .responded)),
  ]

  // MARK: Streams

  private static let streams: [HostileCase] =
    [FrameType.data, .headers, .reset, .continuation, .priority].map { type in
      HostileCase(
        "\(type) on stream 0 is a connection error", "6", [.frame(type, .endHeaders, 0, [0, 0, 0, 8])],
        .violation(.wrongStream(type, 0)))
    }
    + [FrameType.data, .headers, .reset, .windowUpdate, .continuation].map { type in
      HostileCase(
        "\(type) on an even stream, which no push has opened, is a connection error", "5.1.1",
        [.frame(type, .endHeaders, 2, [0, 0, 0, 8])], .violation(.wrongStream(type, 2)))
    }
    + [FrameType.settings, .ping, .goAway].map { type in
      HostileCase(
        "\(type) on stream 1 is a connection error", "6", [zeros(type, [], 1, count: type == .settings ? 6 : 8)],
        .violation(.wrongStream(type, 1))
      ).executed(0...1)
    }
    + [
      HostileCase(
        "DATA on a stream that the client has not opened is a connection error", "5.1", [.data(5, "x")],
        .connectionError()),
      HostileCase(
        "HEADERS on a stream that the client has not opened is a connection error", "5.1", [.head(5)],
        .connectionError()),
      HostileCase(
        "RST_STREAM on a stream that the client has not opened is a connection error", "5.1", [.reset(5, .cancel)],
        .connectionError()),
      HostileCase(
        "WINDOW_UPDATE on a stream that the client has not opened is a connection error", "5.1", [.window(5, 1)],
        .connectionError()),
      HostileCase(
        "PUSH_PROMISE is a connection error, because the client disables pushes", "8.4",
        [.frame(.pushPromise, .endHeaders, 1, bytes(StreamID(2)) + headBlock())], .violation(.push(1))),
      HostileCase(
        "PUSH_PROMISE on stream 0 is a connection error", "6.6",
        [.frame(.pushPromise, .endHeaders, 0, bytes(StreamID(2)) + headBlock())], .violation(.push(0))),
    ]

  // MARK: Order

  private static let block = headBlock(200, ["a": String(repeating: "x", count: 100)])
  private static let openBlock = Step.frame(.headers, [], 1, block)

  private static func interrupting(_ type: FrameType, _ stream: StreamID, _ payload: [UInt8]) -> HostileCase {
    HostileCase(
      "\(type) between HEADERS and CONTINUATION is a connection error", "6.10",
      [openBlock, .frame(type, [], stream, payload), .frame(.continuation, .endHeaders, 1, literal("b", "c"))],
      .violation(.interruptedBlock(type, 1))
    ).executed(0...1)
  }

  private static let order: [HostileCase] =
    [
      interrupting(.data, 1, hello), interrupting(.headers, 1, block), interrupting(.ping, 0, bytes(UInt64(1))),
      interrupting(.settings, 0, []), interrupting(.windowUpdate, 0, bytes(UInt32(1))),
      interrupting(.reset, 1, bytes(UInt32(8))), interrupting(.goAway, 0, bytes(UInt64(0))),
      interrupting(.priority, 1, [0, 0, 0, 0, 0]), interrupting(unknownType, 0, []),
      interrupting(.continuation, 3, block),
      HostileCase(
        "CONTINUATION without HEADERS is a connection error", "6.10", [.frame(.continuation, .endHeaders, 1, block)],
        .violation(.unexpectedContinuation(1))),
      HostileCase(
        "CONTINUATION after END_HEADERS is a connection error", "6.10",
        [.head(1), .frame(.continuation, .endHeaders, 1, block)],
        .violation(.unexpectedContinuation(1), .responded)),
      HostileCase(
        "A field block that an empty CONTINUATION frame ends is read", "6.10",
        [openBlock, .frame(.continuation, .endHeaders, 1), .data(1, "hello", ends: true)], .ok),
      HostileCase(
        "A field block in 32 CONTINUATION frames is read", "6.10",
        [.block(1, block, continuations: 32), .data(1, "hello", ends: true)], .ok),
      HostileCase(
        "A field block in 33 CONTINUATION frames is a connection error", "10.5",
        [.block(1, block, continuations: 33)], .violation(.tooManyContinuations(1))),
      HostileCase(
        "An empty HEADERS frame followed by CONTINUATION is read", "6.2",
        [.frame(.headers, [], 1), .frame(.continuation, .endHeaders, 1, block), .data(1, "hello", ends: true)], .ok),
      HostileCase(
        "DATA before the head of the response is a stream error", "8.1", [.data(1, "hello")],
        .streamError(.protocolError, .maybeSent)),
      HostileCase(
        "Empty DATA with END_STREAM before the head of the response is a stream error", "8.1",
        [.data(1, "", ends: true)], .streamError(.protocolError, .maybeSent)),
      HostileCase(
        "DATA after END_STREAM is a connection error", "5.1", [.await(.end(3)), .respond(1), .data(1, "more")],
        .connectionError(.streamClosed)
      ).calling(.get.expecting(.ok), .get),
      HostileCase(
        "HEADERS after END_STREAM is a connection error", "5.1", [.await(.end(3)), .respond(1), .head(1)],
        .connectionError(.streamClosed)
      ).calling(.get.expecting(.ok), .get),
      HostileCase(
        "WINDOW_UPDATE, PRIORITY and RST_STREAM after END_STREAM are ignored", "5.1",
        [
          .await(.end(3)), .respond(1), .window(1, 10), .frame(.priority, [], 1, [0, 0, 0, 0, 0]), .reset(1, .noError),
          .ping(1), .await(.pings(1)), .respond(3),
        ], .ok
      ).calling(.get, .get),
      HostileCase(
        "A second RST_STREAM of a stream is no reason to end the connection", "5.1",
        [.await(.end(3)), .reset(1, .internalError), .reset(1, .internalError), .respond(3)],
        .ok
      ).calling(.get.expecting(.lost()), .get),
    ]

  // MARK: Padding

  private static let padding: [HostileCase] = [
    HostileCase(
      "DATA whose padding is as long as the payload is a connection error", "6.1",
      [.head(1), .frame(.data, .padded, 1, [6] + hello)], .violation(.paddingTooLong(.data, 1), .responded)),
    HostileCase(
      "DATA whose padding is longer than the payload is a connection error", "6.1",
      [.head(1), .frame(.data, .padded, 1, [255] + hello)], .violation(.paddingTooLong(.data, 1), .responded)),
    HostileCase(
      "HEADERS whose padding is longer than the payload is a connection error", "6.2",
      [.frame(.headers, [.padded, .endHeaders], 1, [255] + headBlock())], .violation(.paddingTooLong(.headers, 1))),
    HostileCase(
      "DATA with a Pad Length of 0 is read", "6.1", [.head(1), .data(1, "hello", padding: 0, ends: true)], .ok),
    HostileCase(
      "DATA with 255 bytes of padding is read", "6.1", [.head(1), .data(1, "hello", padding: 255, ends: true)], .ok),
    HostileCase(
      "DATA frames that contain only padding are read", "6.1",
      [.head(1), .data(1, "", padding: 255), .data(1, "hello"), .data(1, "", padding: 0, ends: true)], .ok),
    HostileCase(
      "Padding that is not zero is ignored", "6.1",
      [.head(1), .frame(.data, [.padded, .endStream], 1, [3] + hello + [1, 2, 3])], .ok),
    HostileCase(
      "Padding does not count toward Content-Length", "8.1.1",
      [.head(1, 200, ["content-length": "5"]), .data(1, "hel", padding: 9), .data(1, "lo", padding: 200, ends: true)],
      .ok),
    HostileCase(
      "HEADERS with padding is read", "6.2",
      [.frame(.headers, [.padded, .endHeaders], 1, padded(headBlock(), 100)), .data(1, "hello", ends: true)], .ok),
    HostileCase(
      "HEADERS with priority fields is read", "6.2",
      [
        .frame(.headers, [.priority, .endHeaders], 1, [0x80, 0, 0, 3, 16] + headBlock()),
        .data(1, "hello", ends: true),
      ], .ok),
    HostileCase(
      "HEADERS with padding and priority fields is read", "6.2",
      [
        .frame(.headers, [.padded, .priority, .endHeaders], 1, padded([0, 0, 0, 0, 16] + headBlock(), 7)),
        .data(1, "hello", ends: true),
      ], .ok),
    HostileCase(
      "Trailers with padding are read", "6.2",
      [
        .head(1), .data(1, "hello"),
        .frame(.headers, [.padded, .endHeaders, .endStream], 1, padded(fieldBlock(["x-sum": "5"]), 200)),
      ], .response("hello", trailers: ["x-sum: 5"])),
  ]

  // MARK: Unknown frames and flags

  private static let unknown: [HostileCase] = [
    HostileCase(
      "Unknown frames on any stream are ignored, with any flags", "4.1",
      [
        .frame(unknownType, [], 0, hello), .frame(unknownType, FrameFlags(rawValue: 0xFF), 1, hello),
        .frame(unknownType, [], 2), .frame(unknownType, [], 99, hello), .head(1), .frame(unknownType, [], 1, hello),
        .data(1, "hello", ends: true), .frame(unknownType, [], 1, hello),
      ], .ok),
    HostileCase(
      "ALTSVC, ORIGIN and PRIORITY_UPDATE frames are ignored", "5.5",
      [
        .frame(FrameType(rawValue: 0xA), [], 0, [0, 1, 104]), .frame(FrameType(rawValue: 0xC), [], 0, [0, 0]),
        .frame(FrameType(rawValue: 0x10), [], 0, [0, 0, 0, 1]), .respond(1),
      ], .ok),
    HostileCase(
      "Unknown flags are ignored", "4.1",
      [
        .frame(.headers, FrameFlags(rawValue: 0xD6), 1, headBlock()),
        .frame(.data, FrameFlags(rawValue: 0xF7), 1, hello),
        .frame(.ping, FrameFlags(rawValue: 0xFE), 0, bytes(UInt64(1))), .await(.pings(1)),
      ], .ok),
    HostileCase(
      "Unknown flags of SETTINGS are ignored", "4.1",
      [.frame(.settings, FrameFlags(rawValue: 0xFE)), .await(.settings(2)), .respond(1)], .ok),
    HostileCase(
      "The reserved bit of a stream identifier is ignored", "4.1",
      [.block(0x8000_0001, headBlock()), .data(0x8000_0001, "hello", ends: true)], .ok),
    HostileCase(
      "The reserved bit of a window increment is ignored", "6.9",
      [.window(0, 0x8000_0001), .window(1, 0x8000_0001), .respond(1)], .ok),
    HostileCase(
      "The reserved bit of GOAWAY's last stream is ignored", "6.8", [.goAway(last: 0x8000_0001), .respond(1)],
      .ok.with(connections: 2...2)),
  ]

  // MARK: Frames without effect

  private static let ignored: [HostileCase] = [
    HostileCase(
      "PRIORITY on open, unopened and even streams is ignored", "5.3.2",
      [1, 99, 2].map { .frame(.priority, [], $0, [0x80, 0, 0, 0, 5]) } + [.respond(1)], .ok),
    HostileCase(
      "PRIORITY with a stream that depends on itself is ignored", "5.3.2",
      [.frame(.priority, [], 1, [0, 0, 0, 1, 0]), .respond(1)], .ok),
    HostileCase(
      "PING is acknowledged with the same bytes", "6.7",
      [.ping(0), .ping(.max), .ping(0x0102_0304_0506_0708), .await(.pings(3)), .respond(1)], .ok),
    HostileCase(
      "An acknowledgment of a PING that the client has not sent is no reason to end the call", "6.7",
      [.frame(.ping, .acknowledgement, 0, bytes(UInt64(7))), .respond(1)], .ok),
    HostileCase(
      "Empty DATA frames between other DATA frames are read", "6.1",
      [.head(1), .data(1, ""), .data(1, "hel"), .data(1, ""), .data(1, "lo"), .data(1, "", ends: true)], .ok),
  ]
}
