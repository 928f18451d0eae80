import Testing

@testable import ApusMiddleware

@Suite("Set-Cookie parser")
struct SetCookieTests {
  /// Returns a cookie as text, for example `a|b|domain=x|secure`; `nil` if the field is ignored.
  private func text(_ field: String) -> String? {
    guard let cookie = SetCookie(Array(field.utf8)) else { return nil }
    var parts = [cookie.name, cookie.value].map { String(decoding: $0, as: UTF8.self) }
    if !cookie.domain.isEmpty { parts.append("domain=" + String(decoding: cookie.domain, as: UTF8.self)) }
    if let path = cookie.path { parts.append("path=" + String(decoding: path, as: UTF8.self)) }
    if let age = cookie.maximumAge { parts.append("age=\(age)") }
    if let expires = cookie.expires { parts.append("expires=\(expires)") }
    if cookie.isSecure { parts.append("secure") }
    if cookie.isHTTPOnly { parts.append("http") }
    if let sameSite = cookie.sameSite { parts.append("\(sameSite)") }
    return parts.joined(separator: "|")
  }

  private static let pairs: [(String, String?)] = [
    ("a=b", "a|b"), ("a=", "a|"), ("a=b=c", "a|b=c"), ("a==b", "a|=b"), ("a", nil), ("=a", nil), ("=a=b", nil),
    ("", nil), ("=", nil), (" \t= ", nil), (";", nil), ("; Path=/", nil), ("a;", nil),
    ("  a \t=\t b c ", "a|b c"), ("a b=c d", "a b|c d"), ("a=\"b c\"", "a|\"b c\""), ("a=\"b;c\"", "a|\"b"),
    ("a=\" b \"", "a|\" b \""), ("a=b,c=d", "a|b,c=d"), ("a=é", "a|é"), ("ü=b", "ü|b"), ("a=%3B\\;", "a|%3B\\"),
    ("a\tb=c\td", "a\tb|c\td"), ("$Version=1; $Path=/a", "$Version|1"), ("Path=/", "Path|/"), ("Secure", nil),
    ("a@b#c=[d]", "a@b#c|[d]"), ("===", nil), ("a;b=c", nil),
  ]

  @Test(
    "The name ends at the first equals sign, the value at the first semicolon; without a name the field is ignored",
    arguments: pairs)
  func pair(field: String, expected: String?) {
    #expect(text(field) == expected)
  }

  @Test("A field with a control character other than a tab is ignored", arguments: 0...127 as ClosedRange<UInt8>)
  func controls(byte: UInt8) {
    let isIgnored = byte != 0x09 && (byte < 0x20 || byte == 0x7F)
    for field in [Array("a=".utf8) + [byte] + Array("b".utf8), Array("a=b; x=".utf8) + [byte] + Array("y".utf8)] {
      #expect((SetCookie(field) == nil) == isIgnored)
    }
  }

  private static let attributes: [(String, String)] = [
    ("Secure", "|secure"), ("secure=no", "|secure"), (" SECURE ", "|secure"), ("Secure;Secure", "|secure"),
    ("Sec ure", ""), ("HttpOnly", "|http"), ("httponly=false; secure", "|secure|http"),
    ("SameSite=Lax", "|lax"), ("samesite= STRICT", "|strict"), ("SameSite=None", "|none"), ("SameSite=other", ""),
    ("SameSite", ""), ("SameSite=Lax; SameSite=x", ""), ("SameSite=Lax; SameSite=Strict", "|strict"),
    ("Path=/a", "|path=/a"), ("path = /a b ", "|path=/a b"), ("Path=", ""), ("Path", ""), ("Path=a", ""),
    ("Path=/a; Path=/b", "|path=/b"), ("Path=/a; Path=b", ""), ("Path=/a; Path", ""), ("Path=\"/a\"", ""),
    ("Path=/a=b", "|path=/a=b"), ("Path=/a?b", "|path=/a?b"),
    ("Domain=example.com", "|domain=example.com"), ("DOMAIN=.Example.COM", "|domain=example.com"),
    ("Domain=..example.com", "|domain=.example.com"), ("Domain=", ""), ("Domain", ""), ("Domain=.", ""),
    ("Domain=a.example; Domain=b.example", "|domain=b.example"), ("Domain=a.example; Domain=", ""),
    ("Max-Age=10", "|age=10"), ("max-age=0", "|age=0"), ("Max-Age=-1", "|age=0"), ("Max-Age=007", "|age=7"),
    ("Max-Age=-", ""), ("Max-Age=", ""), ("Max-Age", ""), ("Max-Age=+1", ""), ("Max-Age=1.5", ""), ("Max-Age=1 0", ""),
    ("Max-Age=0x10", ""), ("Max-Age=\"10\"", ""), ("Max-Age=--1", ""), ("Max-Age=1-", ""),
    ("Max-Age=99999999999999999999999", "|age=\(Int64.max)"), ("Max-Age=-99999999999999999999999", "|age=0"),
    ("Max-Age=10; Max-Age=x", "|age=10"), ("Max-Age=10; Max-Age=20", "|age=20"),
    ("Expires=Sun, 06 Nov 1994 08:49:37 GMT", "|expires=784111777"),
    ("Expires=Sun, 06 Nov 1994 08:49:37 GMT; Expires=never", "|expires=784111777"),
    ("Expires=Sun, 06 Nov 1994 08:49:37 GMT; expires=Thu, 01 Jan 1970 00:00:01 GMT", "|expires=1"),
    ("Expires=", ""), ("Expires=0", ""), ("Expires=-1", ""),
    ("Version=1; Comment=x; Priority=High; Partitioned; ;;=;=x;", ""), ("aSecure; Securea; Max-Agee=1", ""),
  ]

  @Test("Attributes are read in any letters, and the last valid one counts", arguments: attributes)
  func attribute(text attribute: String, expected: String) {
    #expect(text("a=b;" + attribute) == "a|b" + expected)
    #expect(text("a=b; " + attribute + " ;other") == "a|b" + expected)
  }

  @Test("A name and a value may have 4,096 bytes together, and spaces around them do not count")
  func length() {
    for (name, value) in [(1, 4095), (4095, 1), (4096, 0), (2048, 2048)] {
      let pair = String(repeating: "n", count: name) + "=" + String(repeating: "v", count: value)
      #expect(text(pair)?.utf8.count == 4097)
      #expect(text("   \(pair)   ; Path=/")?.utf8.count == 4097 + 7)
      #expect(text(pair + "v") == nil)
      #expect(text("n" + pair) == nil)
    }
    #expect(text("a=" + String(repeating: "é", count: 2047)) != nil)
    #expect(text("a=" + String(repeating: "é", count: 2048)) == nil)
  }

  @Test("An attribute whose value has more than 1,024 bytes is ignored, and does not replace an earlier one")
  func attributeLength() {
    let path = "/" + String(repeating: "p", count: 1023)
    #expect(text("a=b; Path=\(path)") == "a|b|path=\(path)")
    #expect(text("a=b; Path=\(path)p") == "a|b")
    #expect(text("a=b; Path=/x; Path=\(path)p") == "a|b|path=/x")
    #expect(text("a=b; Secure=\(path)p") == "a|b")
    #expect(text("a=b; Max-Age=\(String(repeating: "9", count: 1024))") == "a|b|age=\(Int64.max)")
  }

  private static let prefixes: [(String, Bool)] = [
    ("__Secure-a=b; Secure", true), ("__Secure-a=b", false), ("__sECURE-a=b", false), ("__Secure-=b; Secure", true),
    ("__Host-a=b; Secure; Path=/", true), ("__Host-a=b; Path=/", false), ("__Host-a=b; Secure", false),
    ("__HOST-a=b; Secure; Path=/a", false), ("__host-a=b; Secure; Path=/; Domain=example.com", false),
    ("__Host-a=b; Secure; Path=/; Domain=", true), ("__Host-a=b; Secure; Path=/a; Path=/", true),
    ("__Host-a=b; Secure; Path=//", false), ("_Host-a=b", true), ("__Hosta=b", true), ("__Secure=b", true),
    ("a__Host-=b", true),
  ]

  @Test("A prefix in any letters requires its attributes", arguments: prefixes)
  func prefix(field: String, isPermitted: Bool) throws {
    let cookie = try #require(SetCookie(Array(field.utf8)))
    #expect((CookiePrefix(of: cookie.name)?.permits(cookie) ?? true) == isPermitted)
  }

  private static let day: Int64 = 24 * 60 * 60

  private static let lifetimes: [(String, Int64?)] = [
    ("", nil), ("Max-Age=1", 1), ("Max-Age=0", .min), ("Max-Age=-5", .min), ("Max-Age=34560000", 400 * day),
    ("Max-Age=34560001", 400 * day), ("Max-Age=99999999999999999999", 400 * day),
    ("Expires=Fri, 15 Jan 2027 08:00:10 GMT", 10), ("Expires=Fri, 15 Jan 2027 07:59:50 GMT", -10),
    ("Expires=Sat, 19 Feb 2028 08:00:00 GMT", 400 * day), ("Expires=Sat, 19 Feb 2028 08:00:01 GMT", 400 * day),
    ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", 400 * day),
    ("Max-Age=5; Expires=Fri, 15 Jan 2027 08:00:10 GMT", 5), ("Expires=Fri, 15 Jan 2027 08:00:10 GMT; Max-Age=50", 50),
    ("Max-Age=0; Expires=Fri, 15 Jan 2027 08:00:10 GMT", .min),
    ("Max-Age=x; Expires=Fri, 15 Jan 2027 08:00:10 GMT", 10),
    ("Expires=tomorrow", nil), ("Max-Age=tomorrow", nil),
  ]

  @Test("Max-Age counts before Expires, and no lifetime exceeds 400 days", arguments: lifetimes)
  func lifetime(attributes: String, expected: Int64?) throws {
    let cookie = try #require(SetCookie(Array("a=b; \(attributes)".utf8)))
    #expect(cookie.expiry(at: 1_800_000_000) == expected.map { $0 == .min ? .min : 1_800_000_000 + $0 })
  }
}
