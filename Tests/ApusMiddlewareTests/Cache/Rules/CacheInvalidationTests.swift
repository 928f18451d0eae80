import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@testable import ApusMiddleware

@Suite("Invalidation (RFC 9111 §4.4, RFC 9875)")
struct CacheInvalidationTests {
  private func invalidation(
    _ method: HTTPRequest.Method, _ response: HTTPResponse, path: String = "/a/b?q=1"
  ) -> CacheInvalidation? {
    let head = HTTPRequest(method: method, scheme: "https", authority: "a.example", path: path)
    return CacheInvalidation(after: response, to: head, at: CacheWorld.origin)
  }

  @Test("Each response below 400 to an unsafe method invalidates the target of its request")
  func methods() {
    let unsafe: [HTTPRequest.Method] = [.post, .put, .patch, .delete, .connect]
    for method in unsafe + [HTTPRequest.Method("M-SEARCH")].compactMap({ $0 }) {
      for status in 100...599 {
        let targets = invalidation(method, CacheWorld.response(status))?.targets
        #expect(targets == ((200..<400).contains(status) ? ["/a/b?q=1"] : nil), "\(method) \(status)")
      }
    }
    let safe: [HTTPRequest.Method] = [.get, .head, .options, .trace]
    for method in safe + [HTTPRequest.Method("QUERY")].compactMap({ $0 }) {
      #expect(invalidation(method, CacheWorld.response(200, "Cache-Group-Invalidation: \"a\"")) == nil)
    }
  }

  @Test(
    "Location and Content-Location invalidate at the same origin only",
    arguments: [
      ("/c", "/c"), ("c?x", "/a/c?x"), ("../c", "/c"), ("https://a.example/c", "/c"),
      ("https://a.example:443/c#f", "/c"), ("//a.example/c", "/c"), (" /c ", "/c"), ("http://a.example/c", nil),
      ("https://b.example/c", nil), ("https://a.example:444/c", nil), ("https://a.example.b.example/c", nil),
      ("ftp://a.example/c", nil), ("https://u@a.example/c", nil), ("/c\\d", nil), ("%", nil), ("", "/a/b?q=1"),
    ] as [(String, String?)])
  func locations(text: String, target: String?) {
    for name in ["Location", "Content-Location"] {
      let found = invalidation(.post, CacheWorld.response(201, "\(name): \(text)"))?.targets
      #expect(found == Set(["/a/b?q=1"] + (target.map { [$0] } ?? [])), "\(name) \(text)")
    }
  }

  @Test(
    "Groups are a list of strings; anything else is ignored as a whole (RFC 9875 §2, RFC 9651 §4.2)",
    arguments: [
      ("\"a\"", ["a"]), ("\"a\", \"b\"", ["a", "b"]), ("\"a\",\"a\"", ["a"]),
      ("\"a\";x=1;y, \"b\";z=\"q\"", ["a", "b"]),
      ("\"a\\\"\\\\b\"", ["a\"\\b"]), ("\"\"", [""]), ("\"A\", \"a\"", ["A", "a"]), ("  \"a\"\t,\t\"b\" ", ["a", "b"]),
      ("", []), ("a", []), ("\"a\", b", []), ("\"a\",", []), ("\"a", []), ("\"a\\x\"", []), ("\"é\"", []), ("1", []),
      ("(\"a\")", []), ("\"a\" \"b\"", []), ("\"a\";", []), ("\"a\";X", []), ("\"a\";x=", []), (",\"a\"", []),
    ] as [(String, Set<String>)])
  func groups(value: String, expected: Set<String>) {
    let fields = CacheWorld.fields(["Cache-Groups: \(value)"])
    #expect(CacheGroups.groups(in: fields, CacheGroups.membership) == expected, "\(value)")
    #expect(CacheWorld.stored("Cache-Groups: \(value)").groups == expected)
    let response = CacheWorld.response(200, "Cache-Group-Invalidation: \(value)")
    #expect(invalidation(.post, response)?.groups == expected)
  }

  @Test("Groups are limited in number and length; several fields are one list")
  func groupLimits() {
    let long = String(repeating: "a", count: 257)
    let longest = String(repeating: "a", count: 256)
    let fields = CacheWorld.fields(["Cache-Groups: \"\(long)\", \"\(longest)\"", "Cache-Groups: \"b\""])
    #expect(CacheGroups.groups(in: fields, CacheGroups.membership) == [longest, "b"])
    let many = (0..<300).map { "\"\($0)\"" }.joined(separator: ",")
    #expect(CacheGroups.groups(in: many)?.count == 128 && CacheGroups.groups(in: many)?.contains("127") == true)
    #expect(CacheGroups.groups(in: String(repeating: " ", count: 70_000)) == nil)
  }
}
