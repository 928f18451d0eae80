import Testing

@testable import ApusURLSession

@Suite("Location fields that the platform has joined")
struct LocationLineTests {
  @Test(
    "A Location field is split only before a URL or an absolute path, or between two equal values",
    arguments: [
      ("/a", ["/a"]), ("", [""]), ("/a, b", ["/a, b"]), ("/a,/b", ["/a,/b"]),
      ("/Paris, France?c=1, 2", ["/Paris, France?c=1, 2"]),
      ("http://a.test/x, http://b.test/y", ["http://a.test/x", "http://b.test/y"]),
      ("/x, HTTPS://b.test/y", ["/x", "HTTPS://b.test/y"]), ("/x, /y", ["/x", "/y"]), ("/x, /x", ["/x", "/x"]),
      ("a b, a b", ["a b", "a b"]), ("x, x, x", ["x, x, x"]), ("/a,b, /c, d", ["/a,b", "/c, d"]), (", ", [", "]),
      (", /a", [", /a"]), (",", [","]), ("/a, ", ["/a, "]),
    ])
  func split(joined: String, lines: [String]) {
    #expect(LocationLine.split(joined) == lines)
  }
}
