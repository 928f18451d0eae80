import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Names of profiles")
struct ProfileNameTests {
  @Test(
    "letters, digits and three signs make a name",
    arguments: ["a", "work", "work-2.old_x", "7", "_", "a..b", "work.json", String(repeating: "x", count: 64)])
  func valid(text: String) throws {
    #expect(try ProfileName(text).description == text)
  }

  @Test(
    "nothing else does, and no name hides a file or looks like an option or a path",
    arguments: [
      "", ".", "..", ".work", "-work", "a/b", "../a", "a b", "a\n", "a\0", "ä", "a\u{301}", "a:b", "~",
      String(repeating: "x", count: 65),
    ])
  func invalid(text: String) {
    #expect(throws: PlanError.self) { try ProfileName(text) }
  }

  @Test("capitals are refused, since file names may know no case", arguments: ["Work", "worK", "WORK"])
  func capitals(text: String) {
    let reason = "The name of a profile has no capitals, which not all file systems tell from small letters: "
    #expect(throws: PlanError(reason + "write “work”.")) { try ProfileName(text) }
  }

  @Test("names have an order")
  func order() throws {
    #expect(try [ProfileName("b"), ProfileName("a")].sorted().map(\.description) == ["a", "b"])
  }
}
