import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Fields of a response")
struct ResponseFieldsTests {
  private func fields(_ lines: [(String, String)]) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in lines {
      if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
    return fields
  }

  private func response(_ lines: (String, String)...) -> Response<Int> {
    Response(value: 1, status: 200, fields(lines))
  }

  @Test("A field is found by its name in any case; fields of the same name are joined to a list")
  func field() {
    let response = response(("X-Total-Count", "7"), ("Vary", "accept"), ("vary", "origin"))
    #expect(response.field("x-total-count") == "7" && response.field("X-TOTAL-COUNT") == "7")
    #expect(response.field("Vary") == "accept, origin")
    #expect(response.field("missing") == nil && response.field("no token") == nil && response.field("") == nil)
  }

  @Test("Mapping changes the value of a response and leaves status, fields and trace unchanged")
  func map() throws {
    struct Odd: Error {}
    let response = response(("ETag", "1"))
    let mapped = response.map { "\($0)" }
    #expect(mapped.value == "1" && mapped.field("etag") == "1" && mapped.status == 200 && mapped.id == response.id)
    #expect(throws: Odd.self) { try response.map { _ throws(Odd) -> Int in throw Odd() } }
  }

  @Test("The response of a call has its status and links")
  func real() async throws {
    let bench = CallBench()
    bench.stub.onAny(
      reply: .text("a", status: 203, fields: [HTTPField.Name("Link")!: "</b?page=2>; rel=next"]))
    let response = try await bench.api.response(to: Request<String>.get("/"))
    #expect(response.status == 203 && response.link("next")?.target == "/b?page=2")
  }

  // MARK: Links

  @Test("GitHub's pagination links are parsed")
  func pages() {
    let response = response(
      (
        "Link",
        #"<https://api.github.com/repositories/1/issues?per_page=30&page=2>; rel="next", "#
          + #"<https://api.github.com/repositories/1/issues?per_page=30&page=14>; rel="last""#
      ))
    #expect(response.links.count == 2)
    let issues = "https://api.github.com/repositories/1/issues?per_page=30&page="
    #expect(response.link("next")?.target == issues + "2" && response.link("Last")?.target == issues + "14")
    #expect(response.link("prev") == nil)
  }

  @Test(
    "Links are parsed by the grammar of RFC 8288",
    arguments: [
      (#"</a>;rel=next"#, [("/a", ["next"])]), (#" , </a> ; REL = "Next prev" "#, [("/a", ["next", "prev"])]),
      (#"</a,b;c>; rel="x;y,z""#, [("/a,b;c", ["x;y,z"])]), (#"</a>; rel="a\"b""#, [("/a", [#"a"b"#])]),
      (#"</a>; rel=a; rel=b"#, [("/a", ["a"])]), (#"</a>, </b>; rel=b,"#, [("/a", []), ("/b", ["b"])]),
      (#"<>; rel=self"#, [("", ["self"])]), (#"</a>; rel="open"#, [("/a", ["open"])]),
      (#"</a>; rel=a garbage, </b>; rel=b"#, [("/a", ["a"]), ("/b", ["b"])]), (#"</a>;;; rel=a"#, [("/a", ["a"])]),
      ("/a; rel=next", []), ("</a; rel=next", []), ("", []), ("</a>; rel=a, b", [("/a", ["a"])]),
    ] as [(String, [(String, [String])])])
  func grammar(value: String, expected: [(String, [String])]) {
    let links = response(("Link", value)).links
    #expect(links.map(\.target) == expected.map(\.0), "\(value)")
    #expect(links.map(\.relations) == expected.map(\.1), "\(value)")
  }

  @Test("Link parameters are found in any case, and a link with an anchor is skipped")
  func parameters() {
    let response = response(
      ("Link", #"</other>; rel=next; anchor="/x", </a%20b?q=%C3%A9&r>; rel=next; Title="The next""#),
      ("Link", "</c>; rel=last"))
    #expect(response.links.map(\.target) == ["/other", "/a%20b?q=%C3%A9&r", "/c"])
    let next = response.link("next")
    #expect(next?.target == "/a%20b?q=%C3%A9&r" && next?.parameter("title") == "The next")
  }

  @Test(
    "Hostile Link fields are parsed in linear time",
    arguments: ["<", "<>", ">", ";", "\"", "\\\"", "<>;", "<>;a=\"", ",", " ", "<>;a;", "<a>;a=b,", "=\u{301}"])
  func hostileLinks(piece: String) {
    func time(_ bytes: Int) -> Double {
      let value = Array(String(repeating: piece, count: max(1, bytes / piece.utf8.count)).utf8)
      let fields = fields([("Link", "</a>; rel=\"" + String(decoding: value, as: UTF8.self))])
      let plain = HTTPFields([HTTPField(name: HTTPField.Name("Link")!, value: String(decoding: value, as: UTF8.self))])
      return LinearTime.time {
        _ = WebLink.all(in: fields)
        _ = WebLink.all(in: plain)
      }
    }
    func least(_ bytes: Int) -> Double { (0..<5).map { _ in time(bytes) }.min() ?? 0 }
    let short = least(20_000)
    // Ten times the bytes: quadratic time would take a hundred times as long.
    #expect(least(200_000) < short * 40 + 0.05)
  }

  // MARK: Rate limits

  @Test(
    "Rate limits are read from all common field names",
    arguments: [
      ([("RateLimit", #""default";r=50;t=30"#), ("RateLimit-Policy", #""default";q=100;w=60"#)], 100, 50, 30),
      ([("RateLimit", "limit=100, remaining=50, reset=30")], 100, 50, 30),
      ([("RateLimit-Limit", "100, 100;w=60"), ("RateLimit-Remaining", "50"), ("RateLimit-Reset", "30")], 100, 50, 30),
      (
        [
          ("X-RateLimit-Limit", "5000"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1372700873"),
          ("Date", "Mon, 01 Jul 2013 17:00:00 GMT"),
        ], 5000, 0, 2873
      ),
      ([("X-Rate-Limit-Remaining", "3")], nil, 3, nil), ([("X-RateLimit-Reset", "1372700873")], nil, nil, nil),
      (
        [("X-RateLimit-Reset", "1372700873000"), ("Date", "Mon, 01 Jul 2013 17:00:00 GMT")], nil, nil, 2873
      ),
      ([("RateLimit-Remaining", "many")], nil, nil, nil), ([("Content-Type", "text/plain")], nil, nil, nil),
    ] as [([(String, String)], Int?, Int?, Int?)])
  func rateLimits(lines: [(String, String)], limit: Int?, remaining: Int?, reset: Int?) {
    let found = Response(value: 1, status: 200, fields(lines)).rateLimit
    #expect(found?.limit == limit && found?.remaining == remaining)
    #expect(found?.reset == reset.map { Duration.seconds($0) })
    #expect((found == nil) == (limit == nil && remaining == nil && reset == nil))
  }

  @Test("Huge numbers in rate limits do not overflow")
  func greatNumbers() {
    let huge = String(repeating: "9", count: 400)
    let found = ServerRateLimit(
      fields([
        ("RateLimit-Limit", huge), ("RateLimit-Reset", huge), ("Date", "Mon, 01 Jul 2013 17:00:00 GMT"),
      ]))
    #expect(found?.limit == .max && (found?.reset).map { $0 <= .seconds(1 << 31) } == true)
  }
}
