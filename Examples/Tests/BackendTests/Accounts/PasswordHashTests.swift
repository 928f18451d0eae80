import Foundation
import Testing

@testable import Backend

@Suite struct PasswordHashTests {
  @Test func `a hash matches its own password only`() throws {
    let hash = try PasswordHash(of: "correct horse", rounds: 2)
    #expect(try hash.matches("correct horse"))
    #expect(try !hash.matches("correct horsf"))
    #expect(try !hash.matches(""))
  }

  @Test func `equal passwords have different hashes`() throws {
    #expect(try PasswordHash(of: "12345678", rounds: 2) != PasswordHash(of: "12345678", rounds: 2))
  }

  @Test func `the stored form says how it was made and not the password`() throws {
    let hash = try PasswordHash(of: "correct horse", rounds: 4)
    #expect(hash.text.hasPrefix("scrypt$4$"))
    #expect(!hash.text.contains("correct"))
    #expect(PasswordHash(text: hash.text) == hash)
  }

  @Test(arguments: ["", "scrypt$", "scrypt$x$YQ==$YQ==", "md5$1$YQ==$YQ==", "scrypt$2$%$YQ=="])
  func `a form that is not one is refused`(text: String) {
    #expect(PasswordHash(text: text) == nil)
  }
}
