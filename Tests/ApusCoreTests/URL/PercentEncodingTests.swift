import Testing

@testable import ApusCore

@Suite("Percent-encoding") struct PercentEncodingTests {
  private func encoded(_ text: String, _ component: PercentEncoding.Component) -> String {
    var result = "<"
    PercentEncoding.append(text, as: component, to: &result)
    return String(result.dropFirst())
  }

  @Test(
    "Percent-encoding leaves exactly the characters unchanged that a URL component permits", arguments: UInt8(0)...0xFF)
  func kept(byte: UInt8) {
    let scalar = Character(Unicode.Scalar(byte))
    let unreserved = scalar.isASCII && (scalar.isLetter || scalar.isNumber || "-._~".contains(scalar))
    let path = unreserved || "!$&'()*+,;=:@/%".contains(scalar)
    #expect(ByteSet.unreserved.contains(byte) == unreserved)
    #expect(ByteSet.pathText.contains(byte) == path)
    #expect(ByteSet.plainPathText.contains(byte) == (path && !"%:".contains(scalar)))
    #expect(ByteSet.formText.contains(byte) == ((unreserved && scalar != "~") || scalar == "*"))
    guard byte < 0x80 else { return }
    let escape = "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    #expect(encoded(String(scalar), .value) == (unreserved ? String(scalar) : escape))
    #expect(encoded(String(scalar), .pathText) == (path ? String(scalar) : escape))
    #expect(PercentEncoding.decode(escape).utf8.elementsEqual([byte]))
  }

  @Test("Text is percent-encoded byte by byte and appended")
  func texts() {
    #expect(encoded("", .value) == "")
    #expect(encoded("é", .value) == "%C3%A9")
    #expect(encoded("a b~", .form) == "a+b%7E")
    #expect(encoded("\r\n", .value) == "%0D%0A")
    #expect(encoded(String("xx aé".dropFirst(2)), .pathText) == "%20a%C3%A9")
    var text = ""
    PercentEncoding.append("12 34".dropFirst(2), as: .value, to: &text)
    #expect(text == "%2034")
  }

  @Test("Percent-decoding removes one level of encoding and leaves malformed escapes unchanged")
  func decoding() {
    #expect(PercentEncoding.decode("%2525") == "%25")
    #expect(PercentEncoding.decode("%e9") == "\u{FFFD}")
    #expect(PercentEncoding.decode("%zz%4%") == "%zz%4%")
    #expect(PercentEncoding.decode("%41%4a%4A") == "AJJ")
  }

  @Test(
    "A percent escape has two hexadecimal digits",
    arguments: [
      ("", true), ("%41", true), ("%4", false), ("%", false), ("a%4g", false), ("%%41", false), ("%25%41", true),
    ])
  func escapes(text: String, valid: Bool) {
    #expect(PercentEncoding.hasValidEscapes(text) == valid)
  }
}
