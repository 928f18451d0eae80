import HTTPTypes
import Testing

@testable import ApusCore

@Suite("Retry-After and HTTP dates") struct RetryAfterTests {
  @Test(
    "HTTP dates are parsed in all three formats",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
      ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
      ("Wed Feb 29 00:00:00 2024", 1_709_164_800), ("Thursday, 29-Feb-24 00:00:00 GMT", 1_709_164_800),
      ("Friday, 01-Jan-70 00:00:00 GMT", 0), ("Sat, 01 Jan 1600 00:00:00 GMT", -11_676_096_000),
      ("SUN, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sun, 06 nov 1994 08:49:37 GMT", 784_111_777),
      ("Sun, 06 Nov 1994 08:49:37 gMT", 784_111_777), ("sunday, 06-NOV-94 08:49:37 gmt", 784_111_777),
      ("sun nov  6 08:49:37 1994", 784_111_777), ("Sun Nov 16 08:49:37 1994", 784_975_777),
    ] as [(String, Int64)])
  func dates(text: String, seconds: Int64) {
    #expect(HTTPDate.parse(text) == seconds)
  }

  @Test(
    "Malformed HTTP dates are refused",
    arguments: [
      "", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
      "Sun, 31 Feb 2024 00:00:00 GMT", "Thu, 29 Feb 2023 00:00:00 GMT", "Thu, 29 Feb 1900 00:00:00 GMT",
      "Sun, 31 Apr 2024 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
      "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
      "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
      "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 06 08:49 1994", "0", "soon",
      "Sun, 06 Nov 1994 08:49:37 GMT extra words", "Sun, 06 Nov 1994 08:49:37:00 GMT", "Sun Nov 066 08:49:37 1994",
      "Sun, 06 Nov ２０24 08:49:37 GMT", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
      "Sunday,  06-Nov-94 08:49:37 GMT", "Sun Nov   6 08:49:37 1994", "Sun Nov  06 08:49:37 1994",
      "Sun Nov  6  08:49:37 1994", "Sun  Nov 6 08:49:37 1994", "Sun, 06 Ｎov 1994 08:49:37 GMT",
    ])
  func noDates(text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test("Retry-After or Date repeated by a proxy is read once; with different values the field is ignored")
  func repeated() {
    let (date, later) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:47 GMT")
    func delay(_ fields: (HTTPField.Name, String)...) -> Duration? {
      RetryAfter.delay(in: HTTPFields(fields.map { HTTPField(name: $0, value: $1) }))
    }
    #expect(delay((.retryAfter, later), (.date, date), (.retryAfter, later), (.date, date)) == .seconds(10))
    #expect(delay((.retryAfter, "7"), (.retryAfter, "7")) == .seconds(7))
    #expect(delay((.retryAfter, "7"), (.retryAfter, "8")) == nil)
    #expect(delay((.retryAfter, later), (.date, date), (.date, later)) == nil)
  }

  @Test(
    "Retry-After with a number of seconds is a delay, and huge numbers are capped",
    arguments: [
      ("0", 0), ("120", 120), ("007", 7), ("2147483649", 1 << 31), ("99999999999999999999999999", 1 << 31),
    ] as [(String, Int64)])
  func seconds(text: String, seconds: Int64) {
    #expect(RetryAfter.delay(in: [.retryAfter: text]) == .seconds(seconds))
  }

  @Test(
    "Retry-After that is neither a number nor a date is ignored",
    arguments: ["", "-1", "+5", "1.5", "5s", "soon", "５", "5, 6", "0x10"])
  func ignored(text: String) {
    #expect(RetryAfter.delay(in: [.retryAfter: text]) == nil)
    #expect(RetryAfter.delay(in: [:]) == nil)
  }

  @Test("A date in Retry-After is relative to the response's Date, and a past date means no delay")
  func relative() {
    let now = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(RetryAfter.delay(in: [.retryAfter: "Sun, 06 Nov 1994 08:50:37 GMT", .date: now]) == .seconds(60))
    #expect(RetryAfter.delay(in: [.retryAfter: "Sun Nov  6 08:49:38 1994", .date: now]) == .seconds(1))
    #expect(RetryAfter.delay(in: [.retryAfter: "Sat, 05 Nov 1994 08:49:37 GMT", .date: now]) == .zero)
    #expect(RetryAfter.delay(in: [.retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT", .date: now]) == .seconds(1 << 31))
    #expect(RetryAfter.delay(in: [.retryAfter: now]) == nil)
    #expect(RetryAfter.delay(in: [.retryAfter: now, .date: "nonsense"]) == nil)
  }
}
