import Testing

@testable import Backend

@Suite struct ValidationTests {
  @Test(arguments: ["a@b.cc", "first.last+tag@sub.example.com", "ü@example.com"])
  func `Valid e-mail addresses are accepted`(text: String) {
    #expect(Validation.isEmail(text))
  }

  @Test(arguments: ["", "a", "@", "a@", "@b.cc", "a@b", "a@b.", "a@.cc", "a b@c.dd", "a@b@c.dd", "a@b..cc"])
  func `Invalid e-mail addresses are rejected`(text: String) {
    #expect(!Validation.isEmail(text))
  }

  @Test func `White space around a name is trimmed`() throws {
    var check = Validation()
    #expect(check.name("name", "  Ann\n") == "Ann")
    try check.finish()
  }

  @Test(arguments: [nil, "", "  ", String(repeating: "x", count: 101), "a\u{0}b", "a\nb"])
  func `Invalid names are rejected`(name: String?) {
    var check = Validation()
    _ = check.name("name", name)
    #expect(check.errors.map(\.field) == ["name"])
    #expect(throws: Problem.self) { try check.finish() }
  }

  @Test(arguments: [(7, false), (8, true), (200, true), (201, false)])
  func `A password has 8 to 200 characters`(count: Int, isFine: Bool) {
    var check = Validation()
    _ = check.password("password", String(repeating: "x", count: count))
    #expect(check.errors.isEmpty == isFine)
  }
}
