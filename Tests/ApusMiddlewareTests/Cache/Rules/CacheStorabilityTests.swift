import HTTPTypes
import Testing

@testable import ApusMiddleware

@Suite("Storable responses (RFC 9111 §3)")
struct CacheStorabilityTests {
  private func refusal(
    _ lines: [String], status: Int = 200, _ request: CacheRequest = CacheWorld.request()
  ) -> CacheRules.Refusal? {
    let head = HTTPResponse(status: .init(code: status), headerFields: CacheWorld.fields(lines))
    return CacheRules().refusal(toStore: CacheWorld.stored(head, to: request), for: request)
  }

  @Test("GET, HEAD and QUERY are stored")
  func methods() {
    let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options, .trace]
    for method in methods + ["QUERY", "M-SEARCH", "get"].compactMap({ HTTPRequest.Method($0) }) {
      let isStored = ["GET", "HEAD", "QUERY"].contains(method.rawValue)
      let refusal = refusal(["Cache-Control: max-age=60"], CacheWorld.request(method))
      #expect(refusal == (isStored ? nil : .method), "\(method)")
    }
  }

  @Test("Statuses are stored by default, with a lifetime, or never")
  func statuses() {
    let byDefault: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
    let never: Set<Int> = [206, 304, 401, 407, 412, 416, 428, 429, 431, 511]
    for status in 100...599 {
      let isNever = never.contains(status) || status < 200
      #expect(refusal([], status: status) == (byDefault.contains(status) ? nil : .status), "\(status)")
      for line in ["Cache-Control: max-age=60", "Expires: {60}", "Cache-Control: public", "Cache-Control: private"] {
        #expect(refusal([line], status: status) == (isNever ? .status : nil), "\(status) \(line)")
      }
    }
  }

  @Test(
    "Directives and Vary decide whether a response is stored",
    arguments: [
      (["Cache-Control: no-store"], .noStore), (["Cache-Control: max-age=60, no-store", "Expires: {60}"], .noStore),
      (["Cache-Control: no-store, must-understand, max-age=60"], nil), (["Cache-Control: private, max-age=60"], nil),
      (["Vary: *", "Cache-Control: max-age=60"], .vary), (["Vary: *, *"], .vary), (["Vary: , *"], .vary),
      (["Vary:", "Vary: *"], .vary), (["Vary: Foo, *"], .vary), (["Vary: Foo"], nil),
      (["Cache-Control: no-cache"], .unusable), (["Cache-Control: no-cache", "ETag: \"a\""], nil),
      (["Cache-Control: no-cache, max-age=60"], .unusable), (["Cache-Control: no-cache", "Last-Modified: {-9}"], nil),
      (["Cache-Control: no-cache", "ETag: a", "Last-Modified: x"], .unusable),
      (["Cache-Control: must-revalidate"], .unusable), (["Cache-Control: must-revalidate, max-age=1"], nil),
      (["Cache-Control: max-age=0"], nil), (["Set-Cookie: a=b", "Cache-Control: max-age=60"], nil),
    ] as [([String], CacheRules.Refusal?)])
  func directives(lines: [String], expected: CacheRules.Refusal?) {
    #expect(refusal(lines) == expected, "\(lines)")
  }

  @Test("must-understand stores known statuses only, in spite of no-store (RFC 9111 §5.2.2.3)")
  func mustUnderstand() {
    let line = "Cache-Control: must-understand, no-store, max-age=60"
    #expect(refusal([line], status: 404) == nil && refusal([line], status: 299) == .status)
    #expect(refusal(["Cache-Control: must-understand, max-age=60"], status: 299) == .status)
    #expect(refusal([line], status: 206) == .status)
  }

  @Test("Nothing is stored for a request with no-store; credentials do not matter to a private cache")
  func requests() {
    let lines = ["Cache-Control: max-age=60"]
    #expect(refusal(lines, CacheWorld.request(.get, "Cache-Control: no-store")) == .noStore)
    #expect(refusal(lines, CacheWorld.request(.get, "Authorization: Bearer x")) == nil)
  }

  @Test("Incomplete content is not stored, and an invalidated response only if it can be validated")
  func others() {
    var stored = CacheWorld.stored("Cache-Control: max-age=60")
    stored.isComplete = false
    #expect(CacheRules().refusal(toStore: stored, for: CacheWorld.request()) == .incomplete)
    stored.isComplete = true
    stored.isInvalidated = true
    #expect(CacheRules().refusal(toStore: stored, for: CacheWorld.request()) == .unusable)
    stored = CacheWorld.stored("ETag: \"a\"")
    stored.isInvalidated = true
    #expect(CacheRules().refusal(toStore: stored, for: CacheWorld.request()) == nil)
  }

  @Test("Fields of the connection, fields named by no-cache and cookies are not stored (RFC 9111 §3.1)")
  func storedFields() {
    let stored = CacheWorld.stored(
      "Connection: a, B", "A: 1", "B: 2", "C: 3", "Keep-Alive: x", "TE: x", "Upgrade: x", "Transfer-Encoding: x",
      "Proxy-Authenticate: x", "Proxy-Authentication-Info: x", "Set-Cookie: a=b", "Set-Cookie: c=d",
      "Cache-Control: max-age=60, no-cache=\"d, E\"", "D: 4", "E: 5", "F: 6", "WWW-Authenticate: x")
    let names = stored.fields.map(\.name.canonicalName)
    #expect(names == ["c", "cache-control", "f", "www-authenticate"])
  }
}
