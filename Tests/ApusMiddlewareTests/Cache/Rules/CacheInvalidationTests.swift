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

  // MARK: Generations

  private func invalidation(_ targets: Set<String> = [], _ groups: Set<String> = []) -> CacheInvalidation {
    CacheInvalidation(CacheWorld.origin, targets: targets, groups: groups)
  }

  private func isInvalidated(
    _ state: CacheInvalidations, _ target: String, _ groups: Set<String> = [], sentAt generation: UInt64
  ) -> Bool {
    state.isInvalidated(target, groups: groups, at: CacheWorld.origin, sentAt: generation)
  }

  @Test("A response to a request that was sent before an invalidation is invalidated, one sent after it is not")
  func generations() {
    var state = CacheInvalidations()
    let before = state.begin()
    state.invalidate(invalidation(["/a"], ["g"]))
    let after = state.begin()
    for (target, groups) in [("/a", []), ("/b", ["g"]), ("/b", ["x", "g"])] as [(String, Set<String>)] {
      #expect(isInvalidated(state, target, groups, sentAt: before))
      #expect(!isInvalidated(state, target, groups, sentAt: after))
    }
    #expect(!isInvalidated(state, "/b", ["h"], sentAt: before))
    let other = Origin(scheme: "https", host: "b.example", port: 443)
    #expect(!state.isInvalidated("/a", groups: ["g"], at: other, sentAt: before))
    state.invalidate(groups: ["h"])
    #expect(state.isInvalidated("/z", groups: ["h"], at: other, sentAt: before))
    state.invalidateAll()
    let last = state.begin()
    #expect(isInvalidated(state, "/z", sentAt: after) && !isInvalidated(state, "/a", ["g"], sentAt: last))
  }

  @Test("Invalidations are recorded only while a request is in flight, and within the capacity")
  func bounds() {
    var state = CacheInvalidations(capacity: 4)
    state.invalidate(invalidation(["/a"]))
    #expect(state.count == 0 && state.generation == 1)
    let first = state.begin()
    state.invalidate(invalidation(["/1", "/2", "/3"]))
    let second = state.begin()
    state.end(first)
    state.invalidate(invalidation(["/4", "/5"]))
    // The first three targets belong to no request in flight.
    #expect(state.count == 2 && !isInvalidated(state, "/6", sentAt: second))
    state.invalidate(invalidation(["/6", "/7", "/8"]))
    #expect(state.count == 0 && isInvalidated(state, "/9", sentAt: second))
    state.end(second)
    state.end(second)
    let third = state.begin()
    #expect(!isInvalidated(state, "/9", sentAt: third))
  }

  @Test("Random invalidations are found exactly, or too often at the capacity", arguments: 0..<50)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var state = CacheInvalidations(capacity: seed.isMultiple(of: 2) ? 1000 : 3)
    var sent: [(generation: UInt64, invalidated: Set<String>)] = []
    for _ in 0..<300 {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: sent.append((state.begin(), []))
      case 1:
        guard let index = sent.indices.randomElement(using: &generator) else { continue }
        state.end(sent.remove(at: index).generation)
      default:
        let target = "/\(Int.random(in: 0..<6, using: &generator))"
        state.invalidate(invalidation([target]))
        for index in sent.indices { sent[index].invalidated.insert(target) }
      }
      for request in sent {
        for number in 0..<6 {
          let isFound = isInvalidated(state, "/\(number)", sentAt: request.generation)
          let isInvalidated = request.invalidated.contains("/\(number)")
          #expect(isFound || !isInvalidated)
          if seed.isMultiple(of: 2) { #expect(isFound == isInvalidated) }
        }
      }
      #expect(state.count <= 1000)
    }
  }
}
