import HTTPTypes
import Testing

@testable import ApusMiddleware

@Suite("Vary (RFC 9111 §4.1)")
struct CacheVariantTests {
  private func matches(_ vary: [String], _ first: [String], _ second: [String]) -> Bool {
    let variant = CacheVariant(
      vary: CacheWorld.fields(vary.map { "Vary: \($0)" }), request: CacheWorld.fields(first), seal: { $1 })
    return variant.matches(CacheWorld.fields(second), seal: { $1 })
  }

  @Test(
    "A stored response matches a request with equivalent values of the named fields",
    arguments: [
      ([], ["Foo: 1"], [], true), ([""], ["Foo: 1"], [], true), (["Foo"], ["Foo: 1"], ["Foo: 1"], true),
      (["Foo"], ["Foo: 1"], ["Foo: 2"], false), (["Foo"], ["Foo: 1"], [], false), (["Foo"], [], ["Foo: 1"], false),
      (["Foo"], [], ["Foo:"], false), (["Foo"], [], [], true), (["fOO"], ["foo: 1"], ["FOO: 1"], true),
      (["Foo"], ["Foo: 1", "Other: 2"], ["Foo: 1", "Other: 3"], true),
      (["Foo, Bar"], ["Foo: 1", "Bar: a"], ["Bar: a", "Foo: 1"], true),
      (["Foo, Bar"], ["Foo: 1", "Bar: a"], ["Foo: 2", "Bar: a"], false),
      (["Foo", "Bar"], ["Foo: 1", "Bar: a"], ["Foo: 1", "Bar: b"], false),
      (["Foo, Bar, Baz"], ["Foo: 1", "Baz: 7"], ["Foo: 1", "Baz: 7"], true),
      (["Foo,Bar"], ["Foo: 1"], [], false), ([",Foo , "], ["Foo: 1"], ["Foo: 2"], false),
      (["Foo"], ["Foo: 1,2"], ["Foo:  1,  2 "], true), (["Foo"], ["Foo: 1, 2"], ["Foo: 1", "Foo: 2"], true),
      (["Foo"], ["Foo: 1, 2"], ["Foo: 2, 1"], false), (["Foo"], ["Foo: a"], ["Foo: A"], false),
      (["Foo"], ["Foo: \"a,b\""], ["Foo: \"a, b\""], false),
      (["Accept-Language"], ["Accept-Language: en, de"], ["Accept-Language: EN,De"], true),
      (["Accept-Language"], ["Accept-Language: en, de"], ["Accept-Language: de, en"], false),
      (["Accept-Encoding"], ["Accept-Encoding: gzip"], ["Accept-Encoding: GZIP"], true),
      (["Cookie"], ["Cookie: a=1,2"], ["Cookie: a=1, 2"], false),
      (["*"], [], [], false), (["*, Foo"], ["Foo: 1"], ["Foo: 1"], false), (["Foo, *"], ["Foo: 1"], ["Foo: 1"], false),
      (["", "*"], [], [], false), (["a b"], ["Foo: 1"], ["Foo: 2"], true),
    ] as [([String], [String], [String], Bool)])
  func table(vary: [String], first: [String], second: [String], isMatch: Bool) {
    #expect(matches(vary, first, second) == isMatch, "\(vary) \(first) \(second)")
  }

  @Test("Secrets are stored as digests only")
  func secrets() {
    let seal: CacheVariant.Seal = { name, value in name == "authorization" ? "#\(value.count)" : value }
    let vary = CacheWorld.fields(["Vary: Authorization, Foo"])
    let request = CacheWorld.fields(["Authorization: Bearer sentinel", "Foo: 1"])
    let variant = CacheVariant(vary: vary, request: request, seal: seal)
    #expect(!"\(variant)".contains("sentinel") && variant.values == ["authorization": "#15", "foo": "1"])
    #expect(variant.matches(request, seal: seal))
    #expect(!variant.matches(CacheWorld.fields(["Authorization: Bearer x", "Foo: 1"]), seal: seal))
    let read = CacheVariant(values: variant.values, absentNames: variant.absentNames)
    #expect(read == variant)
  }

  @Test("Of several matching responses the newest by Date is used, then the last one that arrived")
  func newest() {
    func stored(_ id: UInt64, date: Int64, at seconds: Int64, _ value: String = "1") -> StoredResponse {
      let head = CacheWorld.response(200, "Vary: Foo", "Cache-Control: max-age=500", "Date: {\(date)}")
      return CacheWorld.stored(head, id: id, to: CacheWorld.request(.get, "Foo: \(value)"), at: seconds)
    }
    func used(_ stored: StoredResponse...) -> UInt64? {
      let request = CacheWorld.request(.get, "Foo: 1")
      return CacheRules().decision(for: request, among: stored, at: CacheWorld.at(50)).hit?.stored.id
    }
    #expect(used(stored(1, date: 5, at: 5), stored(2, date: 4, at: 9)) == 1)
    #expect(used(stored(1, date: 5, at: 8), stored(2, date: 5, at: 7)) == 1)
    #expect(used(stored(1, date: 5, at: 7), stored(2, date: 5, at: 7)) == 2)
    #expect(used(stored(1, date: 5, at: 7), stored(2, date: 9, at: 9, "2")) == 1)
  }
}
