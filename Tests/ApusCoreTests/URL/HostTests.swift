import Testing

@testable import ApusCore

@Suite("Hosts") struct HostTests {
  private func host(_ text: String) -> String? { try? BaseURL("https://" + text).origin?.host }

  @Test(
    "Host names in any language are sent in their ASCII form",
    arguments: [
      ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example", "xn--bcher-kva.example"),
      ("中文.example", "xn--fiq228c.example"), ("中文。example", "xn--fiq228c.example"),
      ("例え．テスト", "xn--r8jz45g.xn--zckzah"), ("a｡b", "a.b"), ("straße.example", "xn--strae-oqa.example"),
      ("βόλος.example", "xn--nxasmm1c.example"), ("россия.example", "xn--h1alffa9f.example"),
      ("مثال.example", "xn--mgbh0fb.example"), ("한국.example", "xn--3e0b707e.example"), ("ñ.example", "xn--ida.example"),
      ("xn--bcher-kva.example", "xn--bcher-kva.example"), ("a_b.example", "a_b.example"), ("1a.example", "1a.example"),
      ("थे.example", "xn--i2b2e.example"),
    ])
  func names(text: String, ascii: String) {
    #expect(host(text) == ascii)
  }

  @Test(
    "Host names that look like other names are refused",
    arguments: [
      "bu\u{308}cher.example", "\u{301}a.example", "ｅｘａｍｐｌｅ.com", "１２７.0.0.1", "𝐞xample.com", "ﬁle.example",
      "か\u{3099}.example", "\u{1112}\u{1161}\u{11AB}.example", "a\u{200D}b.example", "a\u{200B}b.example",
      "a\u{AD}b.example", "a\u{202E}b.example", "😀.example", "a／b.example", "a？b", "a＃b", "℀.example", "①.example",
      "\u{F900}.example", "a\u{FE0F}.example", "ª.example", "\u{1F71}.example", "a\u{2028}b", "İ.example",

      "\u{E000}.example", "a\u{483}\u{0}.example",
    ])
  func lookalikes(text: String) {
    #expect(host(text) == nil)
  }

  @Test(
    "Host names that resolvers parse as numbers become IPv4 addresses in four decimal parts, or are refused",
    arguments: [
      ("127.0.0.1", true), ("0.0.0.0", true), ("255.255.255.255", true), ("256.0.0.1", false), ("1.2.3", false),
      ("2130706433", false), ("127.1", false), ("0x7f.0.0.1", false), ("0x7f000001", false), ("0x", false),
      ("127.0.0.0x1", false), ("0177.0.0.1", false), ("01.2.3.4", false), ("1.2.3.4.5", false), ("1.2.3.4.", false),
      ("1.2.3.04", false), ("a.1", false), ("1.a", true), ("0x7g", true), ("1.2.3.4a", true), ("a.0xff", false),
    ])
  func numbers(text: String, isGood: Bool) {
    #expect((host(text) != nil) == isGood)
  }

  @Test("Labels of a host name have at most 63 characters, names at most 253")
  func lengths() {
    let label = String(repeating: "a", count: 63)
    #expect(host(label + ".example") != nil)
    #expect(host(label + "a.example") == nil)
    #expect(host(String(repeating: "ü", count: 60) + ".example") == nil)
    let long = [label, label, label, String(repeating: "a", count: 61)].joined(separator: ".")
    #expect(long.utf8.count == 253 && host(long) == long && host(long + ".") == long + ".")
    #expect(host("a" + long) == nil)
    #expect(host(String(repeating: "a.", count: 127) + "a") == nil)
    #expect(host(String(repeating: "日", count: 100_000)) == nil)
  }

  @Test(
    "IPv6 addresses are accepted",
    arguments: [
      "::", "::1", "1::", "1:2:3:4:5:6:7:8", "2001:db8::8a2e:370:7334", "::ffff:1.2.3.4", "64:ff9b::1.2.3.4",
      "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "FE80::A",
    ])
  func ipv6(text: String) {
    #expect(host("[\(text)]") == "[\(text.lowercased())]")
  }

  @Test(
    "Malformed IPv6 addresses are refused",
    arguments: [
      "", ":", ":::", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", "1:2:3:4:5:6:7:8::",
      "::1.2.3", "::1.2.3.4.5", "1.2.3.4::", "1.2.3.4::1", "::1.2.3.256", "::01.2.3.4", "::+1.2.3.4", "::1.2.3.4:5",
      "fe80::1%25eth0", "fe80::1%eth0", "::1 ", "1:2:3:4:5:6:7:1.2.3.4", ":1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:",
      "1.2.3.4",
      "::１",
    ])
  func noIPv6(text: String) {
    #expect(host("[\(text)]") == nil)
  }

  @Test(
    "Punycode matches the samples of RFC 3492",
    arguments: [
      ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"), ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
      ("Pročprostěnemluvíčesky", "Proprostnemluvesky-uyb24dma41a"),
      ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
      ("3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"), ("-> $1.00 <-", "-> $1.00 <--"), ("", ""), ("abc", "abc-"),
      ("ü", "tda"), ("そのスピードで", "d9juau41awczczp"),
    ])
  func punycode(text: String, code: String) {
    #expect(Punycode.encode(text) == code)
  }
}
