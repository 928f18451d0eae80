import Testing

@testable import Backend

@Suite struct QueryTests {
  @Test func `Escapes and plus signs are decoded`() throws {
    let query = try Query("a=1%2B1&b=x+y&c%20d=%C3%BC")
    #expect(query["a"] == "1+1")
    #expect(query["b"] == "x y")
    #expect(query["c d"] == "ü")
  }

  @Test func `A parameter may be empty, missing or repeated`() throws {
    let query = try Query("a&b=&c=1&c=2&&d==")
    #expect(query["a"] == "")
    #expect(query["b"] == "")
    #expect(query["c"] == "1")
    #expect(query["d"] == "=")
    #expect(query["e"] == nil)
    #expect(try Query(nil)["a"] == nil)
  }

  @Test(arguments: ["a=%", "a=%2", "a=%zz", "%=1", "a=%FF"])
  func `A malformed escape is rejected`(text: String) {
    #expect(throws: Problem.badRequest("The query has a malformed percent-escape.")) { try Query(text) }
  }

  @Test(arguments: ["0", "11", "-1", "x", "", "1.0", "99999999999999999999"])
  func `A number out of range is rejected`(text: String) throws {
    let query = try Query("page=\(text)")
    #expect(throws: Problem.self) { try query.integer("page", in: 1...10, default: 1) }
  }

  @Test func `A delimiter before a combining mark is recognized, also when secrets are masked`() throws {
    let query = try Query("a=\u{301}1&\u{301}b=2")
    #expect(query["a"] == "\u{301}1")
    #expect(query["\u{301}b"] == "2")
    #expect(Redaction.query("a=1&token=\u{301}s3cr3t") == "a=1&token=[redacted]")
    #expect(Redaction.query("\u{301}a=1&token=s3cr3t")?.contains("s3cr3t") == false)
  }
}
