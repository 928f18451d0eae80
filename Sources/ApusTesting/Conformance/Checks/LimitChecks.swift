import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// What an answer may cost before its content: 256 KiB and 1,000 fields are enough for everybody.
  static let limitChecks: [Check] = [
    Check("takes a head of a hundred fields and thirty kilobytes") { bench in
      var fields = HTTPFields()
      for number in 0..<100 { fields.append(try field("X-\(number)", String(repeating: "x", count: 300))) }
      await bench.server.answer("/", .status(200, fields: fields, content: "ok"))
      let answer = try await bench.send(ConformanceMessage("GET", "/"))
      for field in fields { try require(answer.head.headerFields[field.name], is: field.value, field.name.rawName) }
      try require(answer.text, is: "ok", "the content")
    },
    floods(
      "refuses a head of more than 256 KiB", Array(repeating: "X: " + String(repeating: "x", count: 4000), count: 70)),
    floods("refuses a head with more than 1,000 fields", Array(repeating: "X: x", count: 1100)),
    floods("refuses a field that does not end", ["X: " + String(repeating: "x", count: 1 << 20)]),
    refuses(
      "refuses trailers and chunk extensions that do not end",
      [
        "0\r\n" + String(repeating: "X: x\r\n", count: 1100) + "\r\n",
        "2;x=" + String(repeating: "x", count: 1 << 18) + "\r\nok\r\n0\r\n\r\n",
        String(repeating: "1;x=" + String(repeating: "x", count: 500) + "\r\no\r\n", count: 1000) + "0\r\n\r\n",
      ].map { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\($0)" }, isAnswered: true),
  ]

  private static func floods(_ name: String, _ lines: [String]) -> Check {
    refuses(name, ["HTTP/1.1 200 OK\r\n" + lines.joined(separator: "\r\n") + "\r\nContent-Length: 2\r\n\r\nok"])
  }
}
