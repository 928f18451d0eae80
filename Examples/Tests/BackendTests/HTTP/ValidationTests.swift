import Testing

@testable import Backend

@Suite struct ValidationTests {
  @Test(arguments: ["a@b.cc", "first.last+tag@sub.example.com", "ü@example.com"])
  func `addresses are taken`(text: String) {
    #expect(Validation.isEmail(text))
  }

  @Test(arguments: ["", "a", "@", "a@", "@b.cc", "a@b", "a@b.", "a@.cc", "a b@c.dd", "a@b@c.dd", "a@b..cc"])
  func `what is no address is refused`(text: String) {
    #expect(!Validation.isEmail(text))
  }

  @Test func `blanks around a name are dropped`() throws {
    var check = Validation()
    #expect(check.name("name", "  Ann\n") == "Ann")
    try check.finish()
  }

  @Test(arguments: [nil, "", "  ", String(repeating: "x", count: 101), "a\u{0}b", "a\nb"])
  func `a name that is none is refused`(name: String?) {
    var check = Validation()
    _ = check.name("name", name)
    #expect(check.errors.map(\.field) == ["name"])
    #expect(throws: Problem.self) { try check.finish() }
  }

  @Test(arguments: [(7, false), (8, true), (200, true), (201, false)])
  func `a password has 8 to 200 characters`(count: Int, isFine: Bool) {
    var check = Validation()
    _ = check.password("password", String(repeating: "x", count: count))
    #expect(check.errors.isEmpty == isFine)
  }
}
