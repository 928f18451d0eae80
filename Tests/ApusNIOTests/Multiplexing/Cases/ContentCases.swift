import ApusCore
import Foundation
import HTTPTypes

@testable import ApusNIO

/// Content, its length, interim responses, trailers and codings (RFC 9113 §8.1).
enum ContentCases {
  static let all = lengths + withoutContent + interim + trailers + coded + split

  private static let end = Step.data(1, "hello", ends: true)

  private static func length(_ value: String) -> Step { .head(1, 200, ["content-length": value]) }

  // MARK: Content-Length

  private static let lengths: [HostileCase] =
    [
      HostileCase("Content as long as its Content-Length is read", "8.1.1", [length("5"), end], .ok),
      HostileCase(
        "Content as long as its Content-Length in several frames is read", "8.1.1",
        [length("5"), .data(1, "h"), .data(1, ""), .data(1, "ell"), .data(1, "o"), .data(1, "", ends: true)], .ok),
      HostileCase(
        "Content shorter than its Content-Length is a stream error", "8.1.1", [length("6"), end], .streamError()),
      HostileCase(
        "Content longer than its Content-Length is a stream error", "8.1.1", [length("4"), .data(1, "hello")],
        .streamError()),
      HostileCase(
        "Content longer than its Content-Length is a stream error with END_STREAM, too", "8.1.1", [length("4"), end],
        .streamError()),
      HostileCase(
        "Content that exceeds its Content-Length in a later frame is a stream error", "8.1.1",
        [length("4"), .data(1, "hell"), .data(1, "o")], .streamError()),
      HostileCase(
        "Content shorter than its Content-Length is a stream error for a streamed call, too", "8.1.1",
        [length("6"), end],
        .streamError()
      ).calling(.streamed),
      HostileCase(
        "A head with END_STREAM and a positive Content-Length is a stream error", "8.1.1",
        [.head(1, 200, ["content-length": "5"], ends: true)], .streamError(.protocolError, .maybeSent)),
      HostileCase(
        "Content with trailers that is shorter than its Content-Length is a stream error", "8.1.1",
        [length("6"), .data(1, "hello"), .fields(1, ["x-sum": "5"], ends: true)], .streamError()),
      HostileCase(
        "A wrong Content-Length ends its stream only", "5.4.2",
        [.await(.end(3)), length("4"), .data(1, "hello"), .respond(3)],
        .streamError()
      ).calling(.get, .get.expecting(.ok)),
      HostileCase(
        "A Content-Length of 0 without content is read", "8.1.1", [.head(1, 200, ["content-length": "0"], ends: true)],
        .response("")),
      HostileCase(
        "A Content-Length of 0 with empty DATA is read", "8.1.1", [length("0"), .data(1, "", ends: true)], .response("")
      ),
      HostileCase("Content without Content-Length is read", "8.1.1", [.head(1), end], .ok),
      HostileCase(
        "Content-Length that repeats one value is read", "9110/8.6",
        [.head(1, 200, ["content-length": "5", "content-length": "5"]), end], .ok),
      HostileCase("Content-Length with a list of one value is read", "9110/8.6", [length("5, 5"), end], .ok),
      HostileCase(
        "Different values of Content-Length are a stream error", "9110/8.6",
        [.head(1, 200, ["content-length": "5", "content-length": "6"])],
        .malformed(.conflictingContentLength, "content-length")),
      HostileCase(
        "A list of different values of Content-Length is a stream error", "9110/8.6", [length("5, 6")],
        .malformed(.conflictingContentLength, "content-length")),
    ]
    + ["", "abc", "-1", "+5", "0x5", "5.0", "5 5", "99999999999999999999"].map { value in
      HostileCase(
        "Content-Length with the value “\(value)” is a stream error", "9110/8.6", [length(value)],
        .malformed(.malformedContentLength, "content-length"))
    } + [
      HostileCase(
        "A Content-Length above the call's limit resets the stream", "9110/8.6", [length("100")],
        .failure(.contentTooLarge, .responded).with(.reset(1, [.cancel, .noError]))
      ).calling(.get.modified { $0.contentLimit(10) }),
      HostileCase(
        "Content above the call's limit resets the stream", "9110/8.6", [.head(1), .data(1, "more than ten")],
        .failure(.contentTooLarge, .responded).with(.reset(1, [.cancel, .noError]))
      ).calling(.get.modified { $0.contentLimit(10) }),
    ]

  // MARK: Responses without content

  private static let withoutContent: [HostileCase] = [
    HostileCase(
      "A response to HEAD with Content-Length is read", "9110/9.3.2",
      [.head(1, 200, ["content-length": "1000"], ends: true)],
      .response("")
    ).calling(.head),
    HostileCase(
      "A response to HEAD that ends with empty DATA is read", "9110/9.3.2", [length("1000"), .data(1, "", ends: true)],
      .response("")
    ).calling(.head),
    HostileCase(
      "A response to HEAD with content is a stream error", "9110/9.3.2", [length("5"), .data(1, "hello")],
      .streamError()
    ).calling(.head),
    HostileCase("A response 204 is read", "9110/15.3.5", [.head(1, 204, ends: true)], .response("", status: 204)),
    HostileCase(
      "A response 204 that ends with empty DATA is read", "9110/15.3.5", [.head(1, 204), .data(1, "", ends: true)],
      .response("", status: 204)),
    HostileCase(
      "A response 204 with content is a stream error", "9110/15.3.5", [.head(1, 204), .data(1, "hello")], .streamError()
    ),
    HostileCase(
      "A response 304 with Content-Length is read", "9110/15.4.5",
      [.head(1, 304, ["content-length": "1000"], ends: true)],
      .response("", status: 304)),
    HostileCase(
      "A response 304 with content is a stream error", "9110/15.4.5", [.head(1, 304), .data(1, "hello")], .streamError()
    ),
    HostileCase("A head with END_STREAM is a complete response", "8.1", [.head(1, ends: true)], .response("")),
    HostileCase(
      "A head with END_STREAM in several frames is a complete response", "8.1",
      [.block(1, headBlock(200, ["a": "b"]), continuations: 3, ends: true)], .response("")),
  ]

  // MARK: Interim responses

  private static func interim(_ count: Int) -> [Step] {
    [Step](repeating: .head(1, 103, ["link": "</a>"]), count: count) + [.respond(1)]
  }

  private static let interim: [HostileCase] = [
    HostileCase("A response after 100 is read", "8.1", [.head(1, 100), .respond(1)], .ok),
    HostileCase("A response after 103 with fields is read", "8.1", interim(1), .ok),
    HostileCase(
      "A response after 102, 103 and 199 is read", "8.1", [102, 103, 199].map { .head(1, $0) } + [.respond(1)], .ok),
    HostileCase("A response after 64 interim responses is read", "9110/15.2", interim(64), .ok),
    HostileCase(
      "A 65th interim response is an error", "9110/15.2", interim(65),
      .failure(.malformedResponse).with(.reset(1, [.protocolError, .enhanceYourCalm, .cancel]))),
    HostileCase(
      "An interim response with END_STREAM is a stream error", "8.1", [.head(1, 103, ends: true)],
      .streamError(.protocolError, .maybeSent)),
    HostileCase("An interim response 101 is a stream error", "8.6", [.head(1, 101)], .malformed(.switchingProtocols)),
    HostileCase(
      "An interim response with Content-Length is read without content, or is a stream error", "9110/8.6",
      [.head(1, 103, ["content-length": "10"]), .respond(1)],
      .ok.with(.anything).or(.failure(.malformedResponse))),
    HostileCase(
      "A malformed interim response is a stream error", "8.2", [.head(1, 103, ["Link": "x"]), .respond(1)],
      .malformed(.upperCaseName)),
    HostileCase(
      "DATA after an interim response is a stream error", "8.1", [.head(1, 100), .data(1, "hello")],
      .streamError(.protocolError, .maybeSent)),
    HostileCase(
      "An interim response after the head is a stream error", "8.1", [.head(1), .head(1, 103)], .streamError()),
    HostileCase(
      "A stream that ends after an interim response is an error", "8.1", [.head(1, 100), .reset(1, .internalError)],
      .lost()),
    HostileCase(
      "Content is sent after 100", "9110/10.1.1", head: [.head(1, 100), .await(.end(1)), .respond(1)], .ok
    ).calling(.post(1000).modified { $0.expectsContinue() }),
    HostileCase(
      "Content is not sent after 417 without 100", "9110/10.1.1",
      head: [.head(1, 417, ends: true), .reset(1, .noError)], .response("", status: 417).with(.anything)
    ).calling(.post(1000).modified { $0.expectsContinue() }),
  ]

  // MARK: Trailers

  private static let trailers: [HostileCase] = [
    HostileCase(
      "Trailers are read", "8.1", [.head(1), .data(1, "hello"), .fields(1, ["x-sum": "5", "x-note": ""], ends: true)],
      .response("hello", trailers: ["x-sum: 5", "x-note: "])),
    HostileCase(
      "Trailers of a streamed response are read", "8.1",
      [.head(1), .data(1, "hello"), .fields(1, ["x-sum": "5"], ends: true)],
      .response("hello", trailers: ["x-sum: 5"])
    ).calling(.streamed),
    HostileCase("Empty trailers are read", "8.1", [.head(1), .data(1, "hello"), .block(1, [], ends: true)], .ok),
    HostileCase(
      "Trailers without content are read", "8.1", [.head(1), .fields(1, ["x-sum": "0"], ends: true)],
      .response("", trailers: ["x-sum: 0"])),
    HostileCase(
      "Trailers in several frames are read", "8.1",
      [.head(1), .data(1, "hello"), .block(1, fieldBlock(["x-sum": "5"]), continuations: 5, ends: true)],
      .response("hello", trailers: ["x-sum: 5"])),
    HostileCase(
      "Trailers without END_STREAM are a stream error", "8.1",
      [.head(1), .data(1, "hello"), .fields(1, ["x-sum": "5"])],
      .streamError()),
    HostileCase(
      "Trailers without END_STREAM are a stream error even if DATA ends the stream", "8.1",
      [.head(1), .data(1, "hello"), .fields(1, ["x-sum": "5"]), .data(1, "", ends: true)], .streamError()),
    HostileCase(
      "Trailers with :status are a stream error", "8.1",
      [.head(1), .data(1, "hello"), .fields(1, [":status": "200"], ends: true)],
      .malformed(.pseudoFieldInTrailers, "", .responded)),
    HostileCase(
      "A second head without END_STREAM is a stream error", "8.1", [.head(1), .head(1)], .streamError()),
    HostileCase(
      "Trailers with another pseudo-header field are a stream error", "8.1",
      [.head(1), .data(1, "hello"), .fields(1, [":path": "/"], ends: true)],
      .malformed(.unknownPseudoField, ":path", .responded)),
    HostileCase(
      "Trailers with an upper-case name are a stream error", "8.2",
      [.head(1), .data(1, "hello"), .fields(1, ["X": "1"], ends: true)], .malformed(.upperCaseName, "", .responded)),
    HostileCase(
      "Trailers with a connection-specific field are a stream error", "8.2.2",
      [.head(1), .data(1, "hello"), .fields(1, ["connection": "close"], ends: true)],
      .malformed(.connectionField, "connection", .responded)),
    HostileCase(
      "Trailers after END_STREAM are a connection error", "5.1",
      [.await(.end(3)), .respond(1), .fields(1, ["x-sum": "5"], ends: true)], .connectionError(.streamClosed)
    ).calling(.get.expecting(.ok), .get),
  ]

  // MARK: Codings

  private static let gzip = compressed(Array("hello".utf8), .gzip)

  private static let coded: [HostileCase] = [
    HostileCase(
      "Content coded with gzip is decoded", "9110/8.4",
      [.head(1, 200, ["content-encoding": "gzip"]), .frame(.data, .endStream, 1, gzip)], .ok),
    HostileCase(
      "Content-Length counts the coded bytes", "9110/8.6",
      [
        .head(1, 200, ["content-encoding": "gzip", "content-length": "\(gzip.count)"]),
        .frame(.data, .endStream, 1, gzip),
      ], .ok),
    HostileCase(
      "Content coded with gzip in frames of one byte is decoded", "9110/8.4",
      [.head(1, 200, ["content-encoding": "gzip"])] + gzip.map { .frame(.data, [], 1, [$0]) } + [
        .data(1, "", ends: true)
      ], .ok),
    HostileCase(
      "Content coded with gzip that ends early is an error", "9110/8.4",
      [.head(1, 200, ["content-encoding": "gzip"]), .frame(.data, .endStream, 1, Array(gzip.dropLast(6)))],
      .failure(.malformedResponse, .responded).with(.anything)),
    HostileCase(
      "Content that is not gzip although it is declared is an error", "9110/8.4",
      [.head(1, 200, ["content-encoding": "gzip"]), .data(1, "hello, this is text")],
      .failure(.malformedResponse, .responded).with(.reset(1, [.protocolError, .cancel, .noError]))),
  ]

  // MARK: Pieces

  private static let whole =
    frame(.headers, .endHeaders, stream: 1, headBlock(103, ["link": "</a>"]))
    + frame(
      .headers, [.padded, .priority], stream: 1, padded([0, 0, 0, 0, 0] + headBlock(200, ["content-length": "5"]), 3))
    + frame(.continuation, .endHeaders, stream: 1, fieldBlock(["x": "y"]))
    + frame(.data, .padded, stream: 1, padded(Array("hel".utf8), 4)) + frame(FrameType(rawValue: 0xFA), [1, 2, 3])
    + frame(.data, stream: 1, Array("lo".utf8))
    + frame(.headers, [.endHeaders, .endStream], stream: 1, fieldBlock(["x-sum": "5"]))

  private static let split: [HostileCase] = [
    HostileCase(
      "A response in one write is read", "4.1", [.send(whole)], .response("hello", trailers: ["x-sum: 5"])),
    HostileCase(
      "A response that arrives byte by byte is read", "4.1", [.sendBytewise(whole)],
      .response("hello", trailers: ["x-sum: 5"])),
    HostileCase(
      "A server's settings that arrive byte by byte are read", "4.1",
      raw: [
        .sendBytewise(frame(.settings, [0, 3, 0, 0, 0, 100])), .await(.settings(1)), .await(.end(1)), .respond(1),
      ], .ok),
    HostileCase(
      "Responses to two calls whose frames alternate are read", "5",
      [
        .await(.end(3)), .head(3), .head(1), .data(1, "hel"), .data(3, "he"), .data(3, "ll"),
        .data(1, "lo", ends: true),
        .data(3, "o", ends: true),
      ], .ok
    ).calling(.get, .get),
    HostileCase(
      "Responses in the reverse order of 10 requests are read", "5",
      [.await(.end(19))] + stride(from: 19, through: 1, by: -2).map { .respond($0) }, .ok
    ).calling([HostileCall](repeating: .get, count: 10)),
  ]
}
