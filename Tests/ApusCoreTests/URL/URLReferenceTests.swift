import ApusTesting
import Testing

@testable import ApusCore

@Suite("URL references")
struct URLReferenceTests {
  private static let base = Origin(scheme: "http", host: "a", port: 80)

  private func resolved(_ text: String, at origin: Origin = Self.base, _ target: String = "/b/c/d;p?q") throws -> String
  {
    let reference = try URLReference(text.utf8, relativeTo: (origin, target))
    return "\(reference.origin)\(reference.target)"
  }

  private func reason(_ text: String) -> URLReference.Fault? {
    do {
      let found = try resolved(text)
      Issue.record("\(text) was taken for \(found)")
      return nil
    } catch {
      return error as? URLReference.Fault
    }
  }

  @Test(
    "The examples of RFC 3986 §5.4, without their fragments, are resolved",
    arguments: [
      ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"),
      ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"),
      ("g;x?y#s", "/b/c/g;x?y"), ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"),
      ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"), ("../../../g", "/g"),
      ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), (".g", "/b/c/.g"),
      ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"),
      ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"), ("g?y/./x", "/b/c/g?y/./x"),
      ("g?y/../x", "/b/c/g?y/../x"), ("http://a/x:y", "/x:y"),
    ])
  func relative(reference: String, target: String) throws {
    #expect(try resolved(reference) == "http://a" + target)
  }

  @Test("A request path without a leading slash is resolved as the root")
  func rootless() throws {
    #expect(try resolved("x", at: Self.base, "/") == "http://a/x")
    #expect(try resolved("x", at: Self.base, "*") == "http://a/x")
    #expect(try resolved("?x", at: Self.base, "/a?b") == "http://a/a?x")
    #expect(try resolved("?x", at: Self.base, "*") == "http://a/?x")
  }

  @Test(
    "The origin of a resolved URL is normalized: case, default ports, addresses, non-ASCII hosts",
    arguments: [
      ("HTTP://EXAMPLE.com:80/x", "http://example.com/x"), ("https://example.com:443", "https://example.com/"),
      ("https://example.com:8443?q", "https://example.com:8443/?q"), ("http://example.com:/x", "http://example.com/x"),
      ("https://[::1]:8443/x", "https://[::1]:8443/x"), ("//[2001:DB8::1]/", "http://[2001:db8::1]/"),
      ("https://bücher.example/", "https://xn--bcher-kva.example/"), ("https://127.0.0.1/", "https://127.0.0.1/"),
      ("//g", "http://g/"), ("//g/x?y", "http://g/x?y"), ("https://example.com#at", "https://example.com/"),
    ])
  func origins(text: String, expected: String) throws {
    #expect(try resolved(text) == expected)
  }

  @Test(
    "Characters that a URL must escape are escaped, and existing escapes remain",
    arguments: [
      ("/a b", "/a%20b"), ("/é", "/%C3%A9"), ("/a?é=[1]\"<>|^`{}", "/a?%C3%A9=%5B1%5D%22%3C%3E%7C%5E%60%7B%7D"),
      ("/%E9%2f", "/%E9%2f"), ("/a?b?c/d\\e", "/a?b?c/d%5Ce"), ("/a%00b", "/a%00b"), ("/a%0d%0ab", "/a%0d%0ab"),
      ("/.//b.example/", "//b.example/"), ("/a/%2e%2E/b", "/b"), ("/a/.%2e/%2e/b/%2e", "/b/"),
      ("/%2e%2e%2e", "/%2e%2e%2e"),
    ])
  func escaping(text: String, target: String) throws {
    #expect(try resolved(text) == "http://a" + target)
  }

  @Test("Bytes that are not UTF-8 are escaped in a path and refused in a host")
  func bytes() throws {
    let path = try URLReference(Array("/caf".utf8) + [0xE9], relativeTo: (Self.base, "/"))
    #expect(path.target == "/caf%E9")
    #expect(throws: URLReference.Fault.self) {
      try URLReference(Array("http://caf".utf8) + [0xE9], relativeTo: (Self.base, "/"))
    }
  }

  @Test(
    "Only http and https are valid schemes of a resolved URL",
    arguments: [
      "ftp://a/", "mailto:a@b", "javascript:alert(1)", "data:,x", "file:///etc/passwd", "a:80/x", "ws://a/", ":x",
    ])
  func schemes(text: String) {
    #expect(reason(text) == .unsupportedScheme)
  }

  @Test(
    "Ambiguous URL references are refused, and the reason contains no part of them",
    arguments: [
      "/a\rb", "/a\nb", "/a\r\nSet-Cookie: x=s3nt1nel", "/a\0b", "/a\u{7F}", "/a\tb", "\\\\s3nt1nel", "/\\s3nt1nel",
      "/a\\..\\b",
      "http://me:s3nt1nel@b/", "http://s3nt1nel@b/", "//s3nt1nel@b", "http:s3nt1nel", "http:/s3nt1nel", "http://",
      "http:///x",
      "http://:80/", "http://b:0/", "http://b:65536/", "http://b:x/", "http://b:-1/", "http://[::1/", "http://[::1]x/",
      "http://[v1.x]/", "http://0x7f.1/", "http://127.1/", "http://010.0.0.1/", "http://b..c/", "http://b%2ec/",
      "http://b c/",
      "http://-b/", "http://b\\@c/", "http://\u{FF41}.example/", "/%", "/%4", "/%zz", "/a?%g1",
    ])
  func ambiguous(text: String) throws {
    let why = try #require(reason(text)).reason
    #expect(!why.contains("s3nt1nel") && !why.isEmpty)
  }

  @Test("Without a base URL only a complete reference is valid")
  func complete() throws {
    let reference = try URLReference("https://b.example/x?y#z".utf8, relativeTo: nil)
    #expect("\(reference.origin)\(reference.target)" == "https://b.example/x?y")
    for text in ["", "/x", "x", "?y", "//b.example/x"] {
      #expect(throws: URLReference.Fault.relative) { try URLReference(text.utf8, relativeTo: nil) }
    }
  }

  @Test("A URL reference up to the maximum length is valid; a longer reference is not")
  func length() throws {
    let long = "/" + String(repeating: "x", count: URLReference.maximumLength - 1)
    #expect(try resolved(long) == "http://a" + long)
    #expect(reason(long + "x")?.reason == "is too long")
  }

  @Test(
    "The result of resolving a random reference can be sent, and resolves to itself", arguments: 0..<4 as Range<UInt64>
  )
  func fuzzing(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let parts = [
      "http", "https", ":", "//", "/", "?", "#", "..", ".", "%2e", "%", "%41", "@", "\\", "b.example", "[::1]", ":80",
      " ", "é",
      "\t", "\r", "\0", ";", "&", "=", "xn--", "1", "0x", "a",
    ]
    for _ in 0..<4_000 {
      let text = (0..<Int.random(in: 0..<9, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
        .joined()
      guard let first = try? URLReference(Array(text.utf8), relativeTo: (Self.base, "/b/c?d")) else { continue }
      #expect(first.target.hasPrefix("/"), "\(text.debugDescription)")
      #expect(
        first.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }, "\(text.debugDescription)")
      let path = first.target.prefix { $0 != "?" }.lowercased().replacing("%2e", with: ".")
      #expect(path.split(separator: "/").allSatisfy { $0 != "." && $0 != ".." }, "\(text.debugDescription)")
      #expect(["http", "https"].contains(first.origin.scheme) && !first.origin.host.contains("@"))
      let again = try URLReference(Array("\(first.origin)\(first.target)".utf8), relativeTo: (Self.base, "/"))
      #expect(again == first, "\(text.debugDescription)")
    }
  }
}
