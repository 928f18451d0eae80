import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Field values as servers write them, some with mistakes, and random text.
@Suite("Fuzz: fields")
struct FieldFuzzTests {
  private static let good = [
    #"</users?page=2>; rel="next prev"; title="a \"b\", c", <https://b.example/?q=%C3%A9#f>; rel=last"#,
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "2024-02-29T23:59:60.123456789+14:00", "120", #""default";q=100;w=60, "b";r=50;t=30"#, "limit=100, remaining=50",
    "application/problem+json; charset=\"utf-8\"; a=b", "private, max-age=\"60\", no-store",
  ]

  private static let telling = Array("<>;=,\"\\ \t%&?#:-+.TZ09aé\u{301}\0\r\n".unicodeScalars)

  private static func text(_ generator: inout SeededGenerator) -> String {
    func telling() -> Unicode.Scalar {
      let any = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &generator)) ?? "a"
      let isAny = UInt8.random(in: 0...3, using: &generator) == 0
      return isAny ? any : Self.telling.randomElement(using: &generator) ?? "a"
    }
    guard Bool.random(using: &generator) else {
      return String(String.UnicodeScalarView((0..<Int.random(in: 0...40, using: &generator)).map { _ in telling() }))
    }
    var scalars = Array((good.randomElement(using: &generator) ?? "").unicodeScalars)
    for _ in 0..<Int.random(in: 0...4, using: &generator) where !scalars.isEmpty {
      let index = Int.random(in: 0..<scalars.count, using: &generator)
      switch UInt8.random(in: 0...2, using: &generator) {
      case 0: scalars[index] = telling()
      case 1: scalars.remove(at: index)
      default: scalars.insert(telling(), at: index)
      }
    }
    return String(String.UnicodeScalarView(scalars))
  }

  private func forEachText(_ seed: UInt64, _ body: (String, HTTPFields) -> Void) throws {
    var generator = SeededGenerator(seed: seed)
    let names = try ["Link", "RateLimit", "RateLimit-Policy", "X-RateLimit-Reset"].map {
      try #require(HTTPField.Name($0))
    }
    for _ in 0..<fuzzRounds(usually: 1000) {
      let text = Self.text(&generator)
      var fields: HTTPFields = [
        .date: Self.text(&generator), .retryAfter: text, .contentType: text, .cacheControl: text,
      ]
      for name in names { fields[name] = text }
      body(text, fields)
    }
  }

  @Test(
    "Links parsed from random fields have a target without brackets and relations without spaces", arguments: 0..<8)
  func links(seed: UInt64) throws {
    try forEachText(seed) { text, fields in
      for link in WebLink.all(in: fields) {
        #expect(!link.target.utf8.contains(UInt8(ascii: ">")), "\(text)")
        #expect(link.relations.allSatisfy { !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: " ")) }, "\(text)")
      }
    }
  }

  @Test("Dates, delays and rate limits parsed from random fields are in range or absent", arguments: 100..<108)
  func times(seed: UInt64) throws {
    let years = Double(-100_000_000_000)...300_000_000_000
    try forEachText(seed) { text, fields in
      if let date = HTTPDate.parse(text) { #expect(years.contains(Double(date)), "\(text)") }
      if let date = try? ISO8601.date(text) { #expect(years.contains(date.timeIntervalSince1970), "\(text)") }
      let times = [RetryAfter.delay(in: fields), ServerRateLimit(fields)?.reset].compactMap(\.self)
      #expect(times.allSatisfy { $0 >= .zero && $0 <= .seconds(1 << 31) }, "\(text)")
    }
  }

  @Test("Media types and cache directives in random fields are parsed or ignored", arguments: 200..<208)
  func types(seed: UInt64) throws {
    try forEachText(seed) { text, fields in
      let type = MediaType(text)
      _ = (type.isJSON, type.parameter("charset"))
      _ = ResponseProgress(HTTPResponse(status: .ok, headerFields: fields), received: 0)
    }
  }
}
