import ApusMiddleware
import Testing

@testable import ApusCredentials

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Lifetimes in a stored record")
struct RecordTimesTests {
  private static let century = Duration.seconds(100 * 366 * 24 * 60 * 60)

  private func read(seconds: String, attoseconds: String = "0", since: String = "0") -> CredentialRecord? {
    CredentialRecord(
      Data(
        """
        {"version":1,"generation":1,"principal":1,"since":\(since),"kind":"tokens","secret":"s",\
        "seconds":\(seconds),"attoseconds":\(attoseconds)}
        """.utf8))
  }

  private func lifetime(_ record: CredentialRecord?) -> Duration? {
    if case .tokens(let tokens)? = record?.credential { tokens.lifetime } else { nil }
  }

  @Test(
    "A lifetime beyond the range of clocks becomes a hundred years, and can be encoded and decoded",
    arguments: [
      ("9223372036854775807", "9223372036854775807", century),
      ("-9223372036854775808", "-9223372036854775808", .zero - century),
      ("3600", "500000000000000000", .milliseconds(3_600_500)), ("0", "9223372036854775807", .milliseconds(9223)),
    ])
  func reading(seconds: String, attoseconds: String, expected: Duration) throws {
    let record = try #require(read(seconds: seconds, attoseconds: attoseconds))
    let lifetime = try #require(self.lifetime(record))
    #expect(lifetime >= expected && lifetime - expected < .seconds(1))
    #expect(self.lifetime(CredentialRecord(try record.encoded())) == lifetime)
    for now in [0, -1e300, 1e300, .infinity, .nan] as [Double] { _ = record.remaining(at: now) }
  }

  @Test(
    "A number beyond 64 bits makes the record invalid",
    arguments: ["1e30", "1e999", "9223372036854775808", "NaN", "\"1\""])
  func malformed(seconds: String) {
    #expect(read(seconds: seconds) == nil)
  }

  @Test("Any start time is accepted", arguments: ["1e300", "-1e300", "1e30", "9223372036854775807"])
  func since(text: String) throws {
    let record = try #require(read(seconds: "60", since: text))
    _ = record.remaining(at: 1e9)
    #expect(CredentialRecord(try record.encoded()) != nil)
  }

  @Test("Any lifetime that an app sets can be stored", arguments: [1e20, -1e20, 1.5])
  func writing(seconds: Double) throws {
    let tokens = Tokens(access: "a", lifetime: .seconds(seconds))
    let record = CredentialRecord(credential: .tokens(tokens), generation: 1, principal: 1, since: 0)
    let read = try #require(lifetime(CredentialRecord(try record.encoded())))
    #expect(read <= Self.century && read >= .zero - Self.century)
  }
}
