import ApusCore
import HTTPTypes

@testable import ApusNIO

/// GOAWAY, and requests that move to another connection (RFC 9113 §6.8, §8.7; RFC 9110 §15.5.20).
enum GoAwayCases {
  static let all = moved + graceful + codes + misdirected

  private static let largest = StreamID(Int32.max)
  /// A second connection carries the call or the next call.
  private static let second = Expected.ok.with(connections: 2...2)

  // MARK: Requests above the last stream

  private static let moved: [HostileCase] = [
    HostileCase(
      "A request that GOAWAY excludes before the server reads it is sent on another connection", "6.8",
      raw: [.settings(), .goAway(last: 0)], second
    ).executed(1...1),
    HostileCase("A request above the last stream is sent on another connection", "6.8", [.goAway(last: 0)], second),
    HostileCase(
      "A request above the last stream is sent on another connection when the server closes", "6.8",
      [.goAway(last: 0), .close], second),
    HostileCase(
      "A POST request above the last stream is sent on another connection", "8.7", [.goAway(last: 0)], second
    ).calling(.post(1000)),
    HostileCase(
      "A POST request that GOAWAY excludes during its upload is sent again from its start", "8.7",
      head: [.await(.content(1, 1)), .goAway(last: 0)], second
    ).calling(.post(500_000)),
    HostileCase(
      "A POST request whose content cannot be produced again is not sent again", "8.7",
      head: [.await(.content(1, 1)), .goAway(last: 0)], .lost(.notSent).with(connections: 2...2)
    ).calling(.stream(1000, of: 1000)).executed(0...0),
    HostileCase(
      "A request moves at most three times because of GOAWAY", "6.8", [.goAway(last: 0)],
      .lost(.notSent).with(connections: 5...5)
    ).onConnections(4).executed(0...0),
    HostileCase(
      "A request that three connections exclude succeeds on the fourth", "6.8", [.goAway(last: 0)],
      .ok.with(connections: 4...4)
    ).onConnections(3),
    HostileCase(
      "A request above the last stream moves, and a request up to the last stream ends", "6.8",
      [.await(.end(3)), .goAway(last: 1), .respond(1)], second
    ).calling(.get, .get),
    HostileCase(
      "A request above the last stream moves even if the last stream ends with an error", "6.8",
      [.await(.end(3)), .goAway(last: 1), .reset(1, .internalError)], second
    ).calling(.get.expecting(.lost()), .get),
    HostileCase(
      "Responses to requests above the last stream are ignored", "6.8", [.goAway(last: 0), .respond(1, "late")],
      second.with(.anything)),
    HostileCase(
      "GOAWAY with an even last stream excludes the streams above it, or is a connection error", "6.8",
      [.await(.end(3)), .goAway(last: 2), .respond(1)],
      second.with(.mayGoAway(.protocolError)).or(.failure(.malformedResponse, nil))
    ).calling(.get, .get).executed(1...2),
    HostileCase(
      "20 requests above the last stream move together", "6.8", [.await(.end(39)), .goAway(last: 0)], second
    ).calling([HostileCall](repeating: .get, count: 20)),
  ]

  // MARK: Requests up to the last stream

  private static let graceful: [HostileCase] = [
    HostileCase(
      "A response after GOAWAY is read, and the next call uses another connection", "6.8",
      [.goAway(last: 1), .respond(1)], second),
    HostileCase(
      "GOAWAY without a last stream lets the call end, and the next call uses another connection", "6.8",
      [.goAway(last: largest), .respond(1)], second),
    HostileCase(
      "GOAWAY inside the content lets the call end", "6.8",
      [.head(1), .data(1, "hel"), .goAway(last: 1), .data(1, "lo", ends: true)], second),
    HostileCase(
      "GOAWAY after the response moves the next call to another connection", "6.8",
      [.send(responseFrames(1) + frame(.goAway, bytes(StreamID(1)) + bytes(UInt32(0))))], second),
    HostileCase(
      "GOAWAY and a close after the response move the next call to another connection", "6.8",
      [.send(responseFrames(1) + frame(.goAway, bytes(StreamID(1)) + bytes(UInt32(0)))), .close], second),
    HostileCase(
      "GOAWAY in two steps lets both calls end", "6.8",
      [
        .await(.end(3)), .goAway(last: largest), .ping(1), .await(.pings(1)), .goAway(last: 3), .respond(3),
        .respond(1),
      ], second
    ).calling(.get, .get),
    HostileCase(
      "GOAWAY in two steps moves the request that the second step excludes", "6.8",
      [.await(.end(3)), .goAway(last: largest), .goAway(last: 1), .respond(1)], second
    ).calling(.get, .get),
    HostileCase(
      "GOAWAY that repeats its last stream has no further effect", "6.8",
      [.goAway(last: 1), .goAway(last: 1), .respond(1)], second),
    HostileCase(
      "GOAWAY that raises its last stream brings no request back", "6.8",
      [.await(.end(3)), .goAway(last: 1), .goAway(last: 3), .respond(1)],
      second.with(.mayGoAway(.protocolError)).or(.failure(.malformedResponse))
    ).calling(.get, .get).executed(1...2),
    HostileCase(
      "No stream is opened after GOAWAY", "6.8",
      [.goAway(last: largest), .ping(1), .await(.pings(1)), .respond(1)], second
    ).calling(.get, .get).oneByOne(),
    HostileCase(
      "A connection that ends after GOAWAY loses its requests", "6.8", [.goAway(last: 1), .close], .closed()),
    HostileCase(
      "A connection that ends after GOAWAY and the head loses its response", "6.8",
      [.head(1), .data(1, "hel"), .goAway(last: 1), .close], .closed(.responded)),
  ]

  // MARK: Codes

  private static let codes: [HostileCase] =
    [HTTP2ErrorCode.protocolError, .internalError, .cancel, .http11Required, HTTP2ErrorCode(rawValue: 0xFF)].map {
      code in
      HostileCase(
        "A response after GOAWAY with \(code) is read", "6.8", [.goAway(last: 1, code), .respond(1)], second)
    }
    + [HTTP2ErrorCode.protocolError, .internalError, .enhanceYourCalm, HTTP2ErrorCode(rawValue: 0xFF)].map { code in
      HostileCase(
        "The error of a connection that ends after GOAWAY names \(code)", "6.8", [.goAway(last: 1, code), .close],
        .lost(.maybeSent, "\(code)").with(connections: 2...2))
    } + [
      HostileCase(
        "A request above the last stream of GOAWAY with ENHANCE_YOUR_CALM moves after a pause", "6.8",
        [.goAway(last: 0, .enhanceYourCalm)], second),
      HostileCase(
        "A request above the last stream of GOAWAY with an unknown code moves", "7",
        [.goAway(last: 0, HTTP2ErrorCode(rawValue: 0xFF))], second),
      HostileCase(
        "The error of a connection that ends after GOAWAY contains the debug text without control characters", "6.8",
        [.goAway(last: 1, .internalError, debug: "too\u{1B}[31m many\r\n"), .close],
        .lost(.maybeSent, "too?[31m many??").with(connections: 2...2)),
      HostileCase(
        "Long debug text of GOAWAY is ignored", "6.8",
        [.goAway(last: 1, .noError, debug: String(repeating: "x", count: 16_000)), .respond(1)], second),
    ]

  // MARK: Status 421

  private static let misdirected: [HostileCase] = [
    HostileCase(
      "A request with the response 421 is sent on another connection", "9110/15.5.20", [.head(1, 421, ends: true)],
      second),
    HostileCase(
      "A POST request with the response 421 is sent on another connection", "9110/15.5.20", [.head(1, 421, ends: true)],
      second
    ).calling(.post(1000)),
    HostileCase(
      "A response 421 with content is not delivered if the request is sent again", "9110/15.5.20",
      [.head(1, 421), .data(1, "wrong server", ends: true)], second.with(.reset(1, [.cancel]))),
    HostileCase(
      "A second response 421 is the result", "9110/15.5.20", [.head(1, 421), .data(1, "wrong", ends: true)],
      .response("wrong", status: 421).with(.reset(1, [.cancel])).with(connections: 2...3)
    ).onConnections(2).executed(0...0),
    HostileCase(
      "A response 421 is the result if the content cannot be produced again", "9110/15.5.20",
      [.head(1, 421), .data(1, "wrong", ends: true)], .response("wrong", status: 421).with(connections: 1...2)
    ).calling(.stream(3, of: 10)).executed(0...0),
  ]
}
