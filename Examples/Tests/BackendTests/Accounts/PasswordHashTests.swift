import Foundation
import Testing

@testable import Backend

@Suite struct PasswordHashTests {
  @Test func `A hash matches only its password`() throws {
    let hash = try PasswordHash(of: "correct horse", rounds: 2)
    #expect(try hash.matches("correct horse"))
    #expect(try !hash.matches("correct horsf"))
    #expect(try !hash.matches(""))
  }

  @Test func `Equal passwords have different hashes`() throws {
    #expect(try PasswordHash(of: "12345678", rounds: 2) != PasswordHash(of: "12345678", rounds: 2))
  }

  @Test func `The stored form has the rounds and not the password`() throws {
    let hash = try PasswordHash(of: "correct horse", rounds: 4)
    #expect(hash.text.hasPrefix("scrypt$4$"))
    #expect(!hash.text.contains("correct"))
    #expect(PasswordHash(text: hash.text) == hash)
  }

  @Test(arguments: ["", "scrypt$", "scrypt$x$YQ==$YQ==", "md5$1$YQ==$YQ==", "scrypt$2$%$YQ=="])
  func `An invalid stored form is rejected`(text: String) {
    #expect(PasswordHash(text: text) == nil)
  }
}
