import ApusCore
import HTTPTypes

@testable import ApusNIO

/// RST_STREAM, and responses that begin before the request ends (RFC 9113 §5.4.2, §6.4, §8.1, §8.7).
enum ResetCases {
  static let all = codes + refused + early

  private static let unknown = HTTP2ErrorCode(rawValue: 0xFF)
  /// The codes that only end the call.
  private static let others: [HTTP2ErrorCode] = [
    .noError, .protocolError, .internalError, .flowControlError, .settingsTimeout, .streamClosed, .frameSizeError,
    .cancel,
    .compressionError, .connectError, .enhanceYourCalm, .inadequateSecurity, unknown,
  ]

  // MARK: Codes and places

  private static let codes: [HostileCase] =
    others.map { code in
      HostileCase(
        "A stream that the server resets with \(code) before the head ends its call", "6.4", [.reset(1, code)],
        .lost(.maybeSent, "\(code)"))
    }
    + [HTTP2ErrorCode.noError, .cancel, .internalError, .refusedStream, .http11Required, unknown].map { code in
      HostileCase(
        "A stream that the server resets with \(code) inside the content ends its call", "6.4",
        [.head(1), .data(1, "hel"), .reset(1, code)], .lost(.responded, "\(code)")
      ).executed(0...1)
    } + [
      HostileCase(
        "A stream that the server resets inside streamed content ends its call", "6.4",
        [.head(1), .data(1, "hel"), .reset(1, .internalError)], .lost(.responded, "INTERNAL_ERROR")
      ).calling(.streamed),
      HostileCase(
        "A stream that the server resets after the complete response does not matter", "5.1",
        [.respond(1), .reset(1, .cancel)], .ok),
      HostileCase(
        "A stream that the server resets leaves the other stream alone", "5.4.2",
        [.await(.end(3)), .reset(1, .internalError), .respond(3)],
        .lost(.maybeSent, "stream 1")
      ).calling(.get, .get.expecting(.ok)),
      HostileCase(
        "A POST request whose stream the server resets is not sent again", "8.7", [.reset(1, .internalError)], .lost()
      ).calling(.post(1000)),
      HostileCase(
        "A stream that requires HTTP/1.1 ends its call if only HTTP/2 is permitted", "7", [.reset(1, .http11Required)],
        .lost(.maybeSent, "HTTP_1_1_REQUIRED")),
      HostileCase(
        "20 streams that the server resets leave the connection usable", "6.4",
        [.await(.end(39))] + stride(from: 1, to: 41, by: 2).map { .reset($0, .internalError) }, .lost()
      ).calling([HostileCall](repeating: .get, count: 20)),
      HostileCase(
        "Frames that follow RST_STREAM end at most the stream", "5.1",
        [.await(.end(3)), .reset(1, .cancel), .window(1, 5), .frame(.priority, [], 1, [0, 0, 0, 0, 0]), .respond(3)],
        .lost()
      ).calling(.get, .get.expecting(.ok)),
    ]

  // MARK: REFUSED_STREAM

  private static let refused: [HostileCase] = [
    HostileCase(
      "A refused request is sent again on another connection", "8.7", [.reset(1, .refusedStream)],
      .ok.with(connections: 2...2)),
    HostileCase(
      "A refused POST request is sent again on another connection", "8.7", [.reset(1, .refusedStream)],
      .ok.with(connections: 2...2)
    ).calling(.post(1000)),
    HostileCase(
      "A POST request that is refused during its upload is sent again from its start", "8.7",
      head: [.await(.content(1, 1)), .reset(1, .refusedStream)], .ok.with(connections: 2...2)
    ).calling(.post(500_000)),
    HostileCase(
      "A refused POST request whose content cannot be produced again is not sent again", "8.7",
      head: [.await(.content(1, 1)), .reset(1, .refusedStream)],
      .lost(.notSent, "REFUSED_STREAM").with(connections: 1...2)
    ).calling(.stream(1000, of: 1000)).executed(0...0),
    HostileCase(
      "A request is refused at most four times", "8.7", [.reset(1, .refusedStream)],
      .lost(.notSent, "REFUSED_STREAM").with(connections: 4...5)
    ).onConnections(4).executed(0...0),
    HostileCase(
      "A request that three connections refuse succeeds on the fourth", "8.7", [.reset(1, .refusedStream)],
      .ok.with(connections: 4...4)
    ).onConnections(3),
    HostileCase(
      "A refused request leaves the other stream alone", "8.7",
      [.await(.end(3)), .reset(1, .refusedStream), .respond(3)],
      .ok.with(connections: 2...2)
    ).calling(.get, .get),
  ]

  // MARK: Early responses

  private static func upload(_ name: String, _ section: String, _ steps: [Step], _ expected: Expected) -> HostileCase {
    HostileCase(name, section, head: [.await(.content(1, 1))] + steps, expected).calling(.post(1_000_000))
  }

  private static let stored: [Step] = [.head(1, 201), .data(1, "stored", ends: true)]
  private static let rejected: [Step] = [.head(1, 413), .data(1, "too large", ends: true)]
  private static let rejection = Expected.response("too large", status: 413)

  private static let early: [HostileCase] = [
    upload(
      "A success before the end of the request lets the upload end", "8.1", stored + [.await(.end(1))],
      .response("stored", status: 201)),
    upload(
      "A head before the end of the request lets the upload end", "8.1",
      [.head(1, 201), .await(.end(1)), .data(1, "stored", ends: true)], .response("stored", status: 201)),
    upload(
      "A success followed by RST_STREAM with NO_ERROR ends the upload", "8.1", stored + [.reset(1, .noError)],
      .response("stored", status: 201)
    ).withoutCredits(),
    upload(
      "A rejection followed by RST_STREAM with NO_ERROR is the result", "8.1", rejected + [.reset(1, .noError)],
      rejection
        .with(.reset(1, [.noError, .cancel]))
    ).withoutCredits(),
    upload(
      "A rejection without RST_STREAM is the result, and the client resets the stream", "8.1",
      rejected + [.await(.reset(1))],
      rejection.with(.reset(1, [.noError, .cancel]))
    ).withoutCredits(),
    upload(
      "A success followed by RST_STREAM with another code is an error", "8.1", stored + [.reset(1, .cancel)],
      .lost(.responded, "CANCEL")
    ).withoutCredits(),
    upload(
      "An incomplete response followed by RST_STREAM with NO_ERROR is an error", "8.1",
      [.head(1, 201), .data(1, "sto"), .reset(1, .noError)], .lost(.responded)
    ).withoutCredits(),
    upload(
      "RST_STREAM with NO_ERROR before the head is an error during an upload", "8.1", [.reset(1, .noError)], .lost()
    ).withoutCredits(),
    upload(
      "A success with trailers followed by RST_STREAM with NO_ERROR ends the upload", "8.1",
      [.head(1, 201), .data(1, "stored"), .fields(1, ["x-sum": "6"], ends: true), .reset(1, .noError)],
      .response("stored", status: 201, trailers: ["x-sum: 6"])
    ).withoutCredits(),
    upload(
      "A malformed early response is a stream error during an upload", "8.1.1", [.fields(1, [":status": "2"])],
      .malformed(.malformedStatus)
    ).withoutCredits(),
    upload(
      "A success followed by a close before the end of the upload is an error", "8.1", stored + [.close],
      .closed(.responded)
    ).withoutCredits(),
  ]
}
