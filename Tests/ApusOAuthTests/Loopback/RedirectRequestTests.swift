import Testing

@testable import ApusOAuth

@Suite("Requests to the listener")
struct RedirectRequestTests {
  private func step(_ text: String, pieces: Int = .max) -> RedirectRequest.Step {
    var request = RedirectRequest(path: "/callback", port: 4000, state: "s")
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let piece = rest.prefix(pieces)
      rest = rest.dropFirst(piece.count)
      let step = request.read(piece)
      if step != .wait { return step }
    }
    return .wait
  }

  private func get(_ target: String, host: String = "127.0.0.1:4000") -> String {
    "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nUser-Agent: x\r\n\r\n"
  }

  @Test("The redirect is recognized in pieces of any length", arguments: [1, 2, 3, 7, 1000])
  func arrives(pieces: Int) {
    #expect(step(get("/callback?code=c&state=s"), pieces: pieces) == .arrive(target: "/callback?code=c&state=s"))
    #expect(
      step(get("/callback?state=s", host: "LOCALHOST:4000"), pieces: pieces) == .arrive(target: "/callback?state=s"))
  }

  @Test("A malformed redirect with the state is accepted, so that the sign-in ends with the reason")
  func malformed() {
    for target in ["/callback?state=s&code=c&code=d", "/callback?state=%73", "/callback?error=a&state=s"] {
      #expect(step(get(target)) == .arrive(target: target))
    }
  }

  @Test(
    "Requests that are not the redirect are refused, and the wait continues",
    arguments: [
      ("GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 404),
      ("GET /callback HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 404),
      ("GET /callback?x=1 HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 404),
      ("GET /callback?code=c&state=x HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 404),
      ("GET /callback?code=c&state= HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 404),
      ("GET /callback?error=access_denied HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 404),
      ("GET /callback?state=x&state=s HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 404),
      ("GET /callback?code=c&code=d HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 404),
      ("GET /callback?x=1&x=2&state=x HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 404),
      ("GET /callback2?state=s HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 404),
      ("POST /callback?state=s HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n", 405),
      ("GET /callback?state=s HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
      ("GET /callback?state=s HTTP/1.1\r\nHost: 127.0.0.1:4001\r\n\r\n", 421),
      ("GET /callback?state=s HTTP/1.1\r\n\r\n", 421),
      ("GET /callback?state=s HTTP/1.1\r\nHost: 127.0.0.1:4000\r\nHost: evil.example\r\n\r\n", 421),
      ("GET  HTTP/1.1\r\n\r\n", 400), ("\r\n\r\n", 400), ("GET / HTTP/3\r\n\r\n", 400),
      ("GET http://x/ HTTP/1.1\r\n\r\n", 400), ("\u{16}\u{3}\u{1}\r\n\r\n", 400),
    ])
  func refused(text: String, status: Int) {
    #expect(step(text) == .refuse(status: status))
  }

  @Test("A head that exceeds the limit is refused")
  func endless() {
    #expect(step(String(repeating: "a", count: RedirectRequest.limit + 1), pieces: 4096) == .refuse(status: 431))
    #expect(step(String(repeating: "a", count: RedirectRequest.limit), pieces: 4096) == .wait)
    #expect(
      step("GET /callback?state=s HTTP/1.1\r\n" + String(repeating: "a", count: 40_000) + "\r\n\r\n")
        == .refuse(status: 431))
  }

  @Test("Random bytes never trap")
  func fuzz() {
    for _ in 0..<2000 {
      var request = RedirectRequest(path: "/callback", port: 4000, state: "s")
      let bytes = (0..<Int.random(in: 0...80)).map { _ in "\r\n GETH/?:=a\u{0}ÿ".utf8.randomElement() ?? 0 }
      _ = request.read(bytes + Array("\r\n\r\n".utf8))
    }
  }
}
