import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Profile names")
struct ProfileNameTests {
  @Test(
    "A name has letters, digits and three other characters",
    arguments: ["a", "work", "work-2.old_x", "7", "_", "a..b", "work.json", String(repeating: "x", count: 64)])
  func valid(text: String) throws {
    #expect(try ProfileName(text).description == text)
  }

  @Test(
    "Invalid names are rejected, such as hidden files, options and paths",
    arguments: [
      "", ".", "..", ".work", "-work", "a/b", "../a", "a b", "a\n", "a\0", "ä", "a\u{301}", "a:b", "~",
      String(repeating: "x", count: 65),
    ])
  func invalid(text: String) {
    #expect(throws: PlanError.self) { try ProfileName(text) }
  }

  @Test("Upper case is rejected, because file systems may ignore case", arguments: ["Work", "worK", "WORK"])
  func capitals(text: String) {
    let reason = "A profile name must be in lower case, because some file systems ignore case: "
    #expect(throws: PlanError(reason + "use “work”.")) { try ProfileName(text) }
  }

  @Test("Profile names are sorted alphabetically")
  func order() throws {
    #expect(try [ProfileName("b"), ProfileName("a")].sorted().map(\.description) == ["a", "b"])
  }
}
