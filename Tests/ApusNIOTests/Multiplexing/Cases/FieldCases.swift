import ApusCore
import HTTPTypes

@testable import ApusNIO

/// Malformed fields and pseudo-header fields (RFC 9113 §8.2, §8.3).
enum FieldCases {
  static let all = pseudoFields + names + values + sync

  private static let end = Step.data(1, "hello", ends: true)

  /// A response head that breaks a rule.
  private static func malformed(
    _ name: String, _ section: String, _ fields: Fields, _ expected: Expected
  ) -> HostileCase {
    HostileCase("\(name) is a stream error", section, [.fields(1, fields)], expected)
  }

  /// A response head with these fields that is read.
  private static func read(_ name: String, _ section: String, _ fields: Fields) -> HostileCase {
    HostileCase("\(name) is read", section, [.block(1, headBlock(200, fields)), end], .ok)
  }

  private static let pseudoFields: [HostileCase] = [
    malformed("A response without :status", "8.3.2", ["server": "x"], .malformed(.missingStatus)),
    HostileCase("A response without fields is a stream error", "8.3.2", [.block(1, [])], .malformed(.missingStatus)),
    malformed(
      "A response with two :status", "8.3", [":status": "200", ":status": "200"],
      .malformed(.repeatedPseudoField, ":status")),
    malformed(
      "A :status after a field", "8.3", ["server": "x", ":status": "200"], .malformed(.latePseudoField, ":status")),
    malformed("An empty :status", "8.3.2", [":status": ""], .malformed(.malformedStatus)),
    malformed("A :status of two digits", "8.3.2", [":status": "20"], .malformed(.malformedStatus)),
    malformed("A :status of four digits", "8.3.2", [":status": "2000"], .malformed(.malformedStatus)),
    malformed("A :status with letters", "8.3.2", [":status": "2oo"], .malformed(.malformedStatus)),
    malformed("A :status with a reason phrase", "8.3.2", [":status": "200 OK"], .malformed(.malformedStatus)),
    malformed("A negative :status", "8.3.2", [":status": "-20"], .malformed(.malformedStatus)),
    malformed("A :status below 100", "8.3.2", [":status": "099"], .malformed(.malformedStatus)),
    malformed("A :status 101", "8.6", [":status": "101"], .malformed(.switchingProtocols)),
    malformed(
      "A pseudo-header field of requests", "8.3", [":status": "200", ":path": "/"],
      .malformed(.unknownPseudoField, ":path")),
    malformed(
      "An unknown pseudo-header field", "8.3", [":status": "200", ":foo": "1"], .malformed(.unknownPseudoField, ":foo")),
    malformed("A field with the name :", "8.3", [":status": "200", ":": "1"], .malformed(.malformedName)),
    HostileCase(
      "A status that no specification defines is read", "8.3.2", [.head(1, 299), end], .response("hello", status: 299)),
    HostileCase("The status 999 is read", "8.3.2", [.head(1, 999), end], .response("hello", status: 999)),
  ]

  private static let names: [HostileCase] =
    [
      malformed(
        "A field name with an upper-case letter", "8.2", [":status": "200", "X-Upper": "1"], .malformed(.upperCaseName)),
      malformed("An empty field name", "8.2.1", [":status": "200", "": "1"], .malformed(.malformedName)),
      malformed("A field name with a space", "8.2.1", [":status": "200", "a b": "1"], .malformed(.malformedName)),
      malformed("A field name with a colon", "8.2.1", [":status": "200", "a:b": "1"], .malformed(.malformedName)),
      malformed(
        "A field name with a control character", "8.2.1", [":status": "200", "a\u{0}": "1"], .malformed(.malformedName)),
      malformed("A field name beyond ASCII", "8.2.1", [":status": "200", "ä": "1"], .malformed(.malformedName)),
    ]
    + ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"].map { name in
      malformed(
        "The field \(name)", "8.2.2", [":status": "200", name: name == "upgrade" ? "h2c" : "chunked"],
        .malformed(
          .connectionField,
          name))
    } + [
      malformed(
        "A field te with another value than trailers", "8.2.2", [":status": "200", "te": "gzip"],
        .malformed(.connectionField, "te")),
      read("A field te with the value trailers", "8.2.2", ["te": "trailers"]),
    ]

  private static let values: [HostileCase] =
    [
      ("NUL", "a\u{0}b"), ("CR", "a\rb"), ("LF", "a\nb"), ("CR and LF", "a\r\nx: y"), ("DEL", "a\u{7F}"),
      ("a space at the start", " a"), ("a tab at the end", "a\t"),
    ].map { what, value in
      malformed(
        "A field value with \(what)", "8.2.1", [":status": "200", "x": value], .malformed(.malformedValue, "x"))
    } + [
      read("An empty field value", "8.2.1", ["x": ""]),
      read("A field value with a tab inside", "8.2.1", ["x": "a\tb"]),
      read("A field value beyond ASCII", "8.2.1", ["x": "größe"]),
      read("A repeated field", "8.2", ["set-cookie": "a=b", "set-cookie": "c=d", "via": "x", "via": "y"]),
      HostileCase(
        "A field value that is not UTF-8 is read", "8.2.1",
        [.block(1, headBlock() + [0] + string("x") + string([0xE9])), end],
        .ok),
    ]

  private static let sync: [HostileCase] = [
    HostileCase(
      "A malformed head ends its stream only", "5.4.2", [.await(.end(3)), .fields(1, ["A": "b"]), .respond(3)],
      .malformed(.upperCaseName)
    ).calling(.get, .get.expecting(.ok)),
    HostileCase(
      "A malformed head with END_STREAM ends its stream only", "5.4.2",
      [.await(.end(3)), .fields(1, ["A": "b"], ends: true), .respond(3)], .malformed(.upperCaseName)
    ).calling(.get, .get.expecting(.ok)),
    HostileCase(
      "The dynamic table contains the fields of a malformed head", "4.3",
      [
        .await(.end(3)),
        .block(1, literal("A", "b") + literal("x-note", "1", pattern: 0x40) + literal("x-sum", "5", pattern: 0x40)),
        .head(3), .data(3, "hello"), .block(3, [0xBE, 0xBF], ends: true),
      ], .malformed(.upperCaseName)
    ).calling(.get, .get.expecting(.response("hello", trailers: ["x-sum: 5", "x-note: 1"]))),
    HostileCase(
      "A malformed field remains malformed when a later response refers to it", "8.1.1",
      [
        .await(.end(3)), .block(1, headBlock() + literal("A", "b", pattern: 0x40)), .block(3, headBlock() + [0xBE]),
      ], .failure(.malformedResponse).with(.resetOrGoAway(.protocolError))
    ).calling(.get, .get),
    HostileCase(
      "Frames that follow a malformed head on its stream are ignored", "5.1",
      [
        .await(.end(3)), .fields(1, ["A": "b"]), .data(1, "hello"), .fields(1, ["x-sum": "1"], ends: true), .respond(3),
      ],
      .malformed(.upperCaseName)
    ).calling(.get, .get.expecting(.ok)),
  ]
}
