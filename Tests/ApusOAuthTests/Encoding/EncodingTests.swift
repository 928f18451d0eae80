import Foundation
import Testing

@testable import ApusOAuth

@Suite("Encodings of OAuth")
struct EncodingTests {
  @Test(
    "Base64 for URLs has no padding and a special alphabet",
    arguments: [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("\u{FB}ÿ", "w7vDvw")])
  func base64(text: String, encoded: String) {
    #expect(Base64URL.encode(text.utf8) == encoded)
    #expect(Base64URL.decode(encoded) == Data(text.utf8))
  }

  @Test(
    "Base64 that is not the unique encoding of its bytes is rejected",
    arguments: ["Zg==", "Zh", "Z", "Zm8=", "Z+9v", "Z/9v", "Zm 9v", "Zm9v\n", "é"])
  func malformed(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }

  @Test("Random bytes are encoded and decoded without change")
  func roundTrip() {
    for length in 0..<70 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255) }
      #expect(Base64URL.decode(Base64URL.encode(bytes)) == Data(bytes))
    }
  }

  @Test("Forms escape all but unreserved characters, and are decoded again")
  func forms() {
    #expect(FormText.encoded([("a b", "1+1=2&"), ("é", "~-._*")]) == "a+b=1%2B1%3D2%26&%C3%A9=~-._%2A")
    #expect(FormText.decoded("a+b=1%2B1%3D2%26&%C3%A9=~&flag") == ["a b": "1+1=2&", "é": "~", "flag": ""])
    #expect(FormText.decoded("") == [:])
    #expect(FormText.url("https://a/b", adding: [("c", "d")]) == "https://a/b?c=d")
    #expect(FormText.url("https://a/b?e=f", adding: [("c", "d")]) == "https://a/b?e=f&c=d")
    #expect(FormText.url("https://a/b?", adding: [("c", "d")]) == "https://a/b?c=d")
  }

  @Test("Duplicate parameters, plain or encoded, and too many parameters are rejected")
  func repeated() {
    #expect(FormText.decoded("state=1&state=2") == nil)
    #expect(FormText.decoded("state=1&st%61te=1") == nil)
    #expect(FormText.decoded((0..<101).map { "p\($0)=1" }.joined(separator: "&")) == nil)
    #expect(FormText.decoded((0..<100).map { "p\($0)=1" }.joined(separator: "&"))?.count == 100)
  }

  @Test("A generated secret has 256 random bits, encoded in 43 characters")
  func secrets() {
    var next: UInt64 = 0
    let text = SecretText.make {
      next += 1
      return next
    }
    #expect(text.utf8.count == 43 && Base64URL.decode(text)?.count == 32)
    #expect(next == 4)
    #expect(SecretText.areEqual("abc", "abc"))
    #expect(!SecretText.areEqual("abc", "abd") && !SecretText.areEqual("abc", "ab") && !SecretText.areEqual("", "a"))
  }
}
