import Testing

@testable import ApusMiddleware

@Suite("Cookie dates")
struct CookieDateTests {
  private static let dates: [(String, Int64?)] = [
    // The formats of RFC 9110 §5.6.7, and usual variants.
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun, 06-Nov-1994 08:49:37 GMT", 784_111_777),
    ("06 Nov 1994 08:49:37", 784_111_777), ("Nov 06 08:49:37 1994 GMT", 784_111_777),
    ("08:49:37 06 Nov 1994", 784_111_777), ("1994 November 06 08:49:37", 784_111_777),
    ("06 1994 november 08:49:37", 784_111_777), ("SUN, 06 NOV 1994 08:49:37 gmt", 784_111_777),
    ("Sun, 6 Nov 94 8:49:37", 784_111_777), ("Sun,06,Nov,1994,08:49:37", 784_111_777),
    ("Sun; 06/Nov/1994; 08:49:37", 784_111_777), ("(Sun) \"06\" {Nov} [1994] 08:49:37 @", 784_111_777),
    ("Sun, 06-Nov-1994 08:49:37 PST", 784_111_777), ("Sun, 06 Nov 1994 08:49:37 +0100", 784_111_777),
    ("6th Nov 1994th 08:49:37am", 784_111_777), ("06 Novembre 1994 08:49:37.123", 784_111_777),
    ("06 Nov 1994 08:49:37:59", 784_111_777), ("06 Nov 1994 08:49:37 07 Dec 1995 01:02:03", 784_111_777),
    ("\tSun,\t06 Nov 1994\t08:49:37 ", 784_111_777),
    // Limits of the parts.
    ("01 Jan 1970 00:00:00", 0), ("31 Dec 1969 23:59:59", -1), ("01 Jan 1601 00:00:00", -11_644_473_600),
    ("31 Dec 1600 23:59:59", nil), ("31 Dec 9999 23:59:59", 253_402_300_799), ("01 Jan 10000 00:00:00", nil),
    ("06 Nov 1994 23:59:59", 784_166_399), ("06 Nov 1994 24:00:00", nil), ("06 Nov 1994 08:60:37", nil),
    ("06 Nov 1994 08:49:60", nil), ("00 Nov 1994 08:49:37", nil), ("31 Nov 1994 08:49:37", nil),
    ("32 Dec 1994 08:49:37", nil), ("29 Feb 2000 00:00:00", 951_782_400), ("29 Feb 1900 00:00:00", nil),
    ("29 Feb 2023 00:00:00", nil), ("29 Feb 2024 00:00:00", 1_709_164_800),
    // Years of two and three digits.
    ("01 Jan 70 00:00:00", 0), ("01 Jan 99 00:00:00", 915_148_800), ("01 Jan 00 00:00:00", 946_684_800),
    ("01 Jan 69 00:00:00", 3_124_224_000), ("01 Jan 100 00:00:00", nil), ("01 Jan 999 00:00:00", nil),
    ("01 Jan 0 00:00:00", nil), ("01 Jan 01994 00:00:00", nil),
    // Missing parts.
    ("", nil), ("Nov", nil), ("06 Nov 1994", nil), ("06 Nov 08:49:37", nil), ("Nov 1994 08:49:37", nil),
    ("06 1994 08:49:37", nil), ("06 Nov 1994 08:49", nil), ("06 Nov 1994 8:4:7", 784_109_047),
    ("06 Nov 1994 :49:37", nil), ("06 Nov 1994 008:49:37", nil), ("06 Nov 1994 08:49:", nil),
    ("06 Nov 1994 08: 49:37", nil), ("06 Nov 1994 a08:49:37", nil), ("06 No 1994 08:49:37", nil),
    ("784111777", nil), ("1994-11-06T08:49:37Z", nil),
  ]

  @Test("Dates are read by their words, in any order", arguments: dates)
  func date(text: String, expected: Int64?) {
    #expect(CookieDate.parse(text.utf8) == expected)
  }

  @Test("Bytes beyond ASCII belong to words")
  func beyondASCII() {
    #expect(CookieDate.parse("06é Novö 1994ß 08:49:37ü".utf8) == 784_111_777)
    #expect(CookieDate.parse("é06 Nov 1994 08:49:37".utf8) == nil)
  }
}
