import HTTPTypes
import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Ranges from the cache (RFC 9110 §14.2, RFC 9111 §3.3)")
struct CacheRangeTests {
  private let stored = CacheWorld.stored(
    "Cache-Control: max-age=60", "ETag: \"a\"", "Last-Modified: {-100}", "Content-Length: 11")

  private func decision(_ request: CacheRequest, _ stored: StoredResponse? = nil) -> CacheDecision {
    CacheRules().decision(for: request, among: [stored ?? self.stored], at: CacheWorld.at(5))
  }

  @Test(
    "One range of a complete response is a 206; other ranges are for the server",
    arguments: [
      ("bytes=0-1", "bytes 0-1/11"), ("bytes=1-", "bytes 1-10/11"), ("bytes=-1", "bytes 10-10/11"),
      ("bytes=-99", "bytes 0-10/11"), ("bytes=0-99", "bytes 0-10/11"), ("bytes=10-10", "bytes 10-10/11"),
      ("BYTES= 0-1 ", "bytes 0-1/11"), ("bytes=11-", nil), ("bytes=-0", nil), ("bytes=5-4", nil),
      ("bytes=0-1,3-4", nil), ("bytes=", nil), ("bytes=-", nil), ("bytes=a-b", nil), ("bytes=1-x", nil),
      ("bytes=x-1", nil), ("bytes=1--2", nil), ("bytes=--2", nil), ("bytes=+1-2", nil), ("items=0-1", nil),
      ("bytes", nil), ("bytes=0-9999999999999999999999", nil), ("bytes=999999999999999999-", nil),
    ] as [(String, String?)])
  func ranges(range: String, contentRange: String?) throws {
    let decision = decision(CacheWorld.request(.get, "Range: \(range)"))
    guard let contentRange else {
      #expect(decision.request?.reason == .partial && decision.request?.conditions == [:], "\(range)")
      return
    }
    let head = try #require(decision.hit?.head, "\(range)")
    #expect(head.status == .partialContent && head.headerFields[.contentRange] == contentRange, "\(range)")
    guard case .part(let part) = decision.hit?.form else { return }
    #expect(head.headerFields[values: .contentLength] == [String(part.count)])
    #expect(part.first + part.count == part.last + 1)
  }

  @Test(
    "A range continues only the same strong validator (RFC 9110 §13.1.5)",
    arguments: [
      ("\"a\"", true), ("\"b\"", false), ("W/\"a\"", false), ("{-100}", true), ("{-99}", false), ("x", false),
    ])
  func ifRange(value: String, isPart: Bool) {
    let request = CacheWorld.request(.get, "Range: bytes=0-1", "If-Range: \(value)")
    let form = decision(request).hit?.form
    #expect(form == (isPart ? .part(ByteRange(first: 0, last: 1, total: 11)) : .whole), "\(value)")
  }

  @Test("A weak tag and a recent modification date continue nothing")
  func weakValidators() {
    let weak = CacheWorld.stored("Cache-Control: max-age=60", "ETag: W/\"a\"", "Last-Modified: {-10}")
    for value in ["W/\"a\"", "\"a\"", "{-10}"] {
      let request = CacheWorld.request(.get, "Range: bytes=0-1", "If-Range: \(value)")
      #expect(decision(request, weak).hit?.form == .whole, "\(value)")
    }
  }

  @Test("Decoded, empty and unknown content has no ranges; other statuses are used whole")
  func others() {
    let request = CacheWorld.request(.get, "Range: bytes=0-1")
    var other = stored
    other.servesRanges = false
    #expect(decision(request, other).hit == nil)
    other = stored
    other.contentLength = nil
    #expect(decision(request, other).hit == nil)
    other.contentLength = 0
    #expect(decision(request, other).hit == nil)
    #expect(decision(CacheWorld.request(.get, "Range: bytes=-1"), other).hit == nil)
    let missing = CacheWorld.stored(CacheWorld.response(404, "Cache-Control: max-age=60"))
    #expect(decision(request, missing).hit?.form == .whole)
    let query = CacheWorld.request(HTTPRequest.Method("QUERY") ?? .get, "Range: bytes=0-1")
    #expect(decision(query).request?.reason == .request)
    #expect(decision(CacheWorld.request(.get, "Range: bytes=0-1", "Range: bytes=2-3")).request?.reason == .partial)
  }

  @Test("A range of a stale response is validated with its condition")
  func stale() {
    let request = CacheWorld.request(.get, "Range: bytes=0-1")
    let forward = CacheRules().decision(for: request, among: [stored], at: CacheWorld.at(61)).request
    #expect(forward?.conditions == [.ifNoneMatch: "\"a\""])
    let continued = CacheWorld.request(.get, "Range: bytes=0-1", "If-Range: \"a\"")
    #expect(CacheRules().decision(for: continued, among: [stored], at: CacheWorld.at(61)).request?.conditions == [:])
  }
}
