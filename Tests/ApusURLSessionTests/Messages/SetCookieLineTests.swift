import Testing

@testable import ApusURLSession

@Suite("Joined Set-Cookie lines")
struct SetCookieLineTests {
  @Test(
    "come apart where one cookie ends, not inside of dates and values",
    arguments: [
      ("a=1", ["a=1"]),
      ("a=1, b=2", ["a=1", "b=2"]),
      ("a=1,b=2,c=3", ["a=1", "b=2", "c=3"]),
      (
        "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, b=2; HttpOnly",
        ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2; HttpOnly"]
      ),
      (
        "a=1; Expires=Wed, 21-Oct-2026 07:28:00 GMT, b=2; Expires=Thu, 22 Oct 2026 07:28:00 GMT",
        ["a=1; Expires=Wed, 21-Oct-2026 07:28:00 GMT", "b=2; Expires=Thu, 22 Oct 2026 07:28:00 GMT"]
      ),
      ("a=x,y; Path=/, b=", ["a=x,y; Path=/", "b="]),
      // A mark that combines with a delimiter does not hide it.
      ("a=1; HttpOnly,\u{301}b=2", ["a=1; HttpOnly", "\u{301}b=2"]), ("a=1, b=\u{301}2", ["a=1", "b=\u{301}2"]),
      ("", [""]),
      (",", [","]),
      ("a=1,", ["a=1,"]),
    ])
  func split(joined: String, lines: [String]) {
    #expect(SetCookieLine.split(joined) == lines)
  }
}
