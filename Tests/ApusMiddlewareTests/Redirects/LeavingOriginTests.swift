import ApusCore
import HTTPTypes
import Testing

@testable import ApusMiddleware

@Suite("Redirects to another origin")
struct LeavingOriginTests {
  private func hop(
    _ location: String, _ fields: HTTPFields, from url: String = "https://a.example/x",
    without credentials: CredentialFields = CredentialFields()
  ) throws -> RedirectState.Hop {
    let request = message(.get, url, fields: fields)
    var state = try RedirectState(.follow(allowsInsecure: true), at: request)
    let step = state.step(after: redirect(302, location), to: request, without: credentials)
    guard case .follow(let hop) = step else { throw try #require(step.refusal) }
    return hop
  }

  private func fields(_ names: [String]) -> HTTPFields {
    HTTPFields(names.compactMap { name in HTTPField.Name(name).map { HTTPField(name: $0, value: "v") } })
  }

  private func marked(_ name: String) throws -> HTTPField {
    var field = HTTPField(name: try #require(HTTPField.Name(name)), value: "v")
    field.indexingStrategy = .disallow
    return field
  }

  private static let secret = [
    "Authorization", "Proxy-Authorization", "Cookie", "Cookie2", "WWW-Authenticate", "Idempotency-Key", "X-Api-Key",
    "X-Auth-Token", "X-CSRF-Token", "X-XSRF-TOKEN", "X-Amz-Date", "X-Amz-Security-Token", "X-Session-Id", "Api-Key",
    "ApiKey", "Signature", "DPoP", "X-Client-Secret", "X-Tenant-Key",
  ]
  private static let harmless = [
    "Accept", "Accept-Language", "User-Agent", "Range", "If-None-Match", "X-Trace", "traceparent", "Prefer", "X-Monkey",
    "Authority-Info", "Cookies",
  ]

  @Test(
    "A different scheme, host or port is a different origin",
    arguments: ["http://a.example/", "https://b.example/", "https://a.example:8443/", "https://sub.a.example/"])
  func origins(location: String) throws {
    let hop = try hop(location, fields(Self.secret + Self.harmless))
    #expect(hop.request.head.headerFields.map(\.name.rawName) == Self.harmless)
    #expect(hop.droppedFields == Self.secret.count)
  }

  @Test(
    "A redirect within the same origin, however written, removes no fields",
    arguments: ["/y", "https://A.example:443/y", "//a.example/y"])
  func sameOrigin(location: String) throws {
    let hop = try hop(location, fields(Self.secret + Self.harmless))
    #expect(hop.request.head.headerFields.count == Self.secret.count + Self.harmless.count && hop.droppedFields == 0)
  }

  @Test("A redirect to another origin removes sensitive fields and the authentication's fields")
  func marks() throws {
    let all: HTTPFields = try HTTPFields([marked("User-Agent"), marked("X-Own")]) + fields(["X-Custom", "Accept"])
    #expect(try hop("//b.example/", all).request.head.headerFields.map(\.name.rawName) == ["X-Custom", "Accept"])
    let credentials = CredentialFields(keyFields: ["x-custom"])
    let kept = try hop("//b.example/", all, without: credentials).request.head.headerFields
    #expect(kept.map(\.name.rawName) == ["Accept"])
  }

  @Test(
    "A redirect to another origin removes a secret parameter that the server repeats",
    arguments: [
      ("?api_key=s&page=2", "/?page=2"), ("?page=2&api_key=s", "/?page=2"), ("?api_key=s", "/"),
      ("?api%5Fkey=s&a", "/?a"),
      ("?api_key", "/"), ("?API_KEY=s", "/?API_KEY=s"), ("?a=api_key", "/?a=api_key"), ("?my+key=s&b=1", "/?b=1"),
      ("", "/"),
      ("?a&&b", "/?a&&b"),
    ])
  func parameters(query: String, target: String) throws {
    let credentials = CredentialFields(parameters: ["api_key", "my key"])
    #expect(try hop("https://b.example/" + query, [:], without: credentials).request.target == target)
    // The parameter may be sent to its own origin.
    #expect(try hop("/" + query, [:], without: credentials).request.target == "/" + query)
  }

  @Test(
    "A combining mark does not hide a secret parameter",
    arguments: [
      ("/?key=\u{301}s&a=b", "/?a=b"), ("/?\u{301}a=b&key=s", "/?\u{301}a=b"),
      ("/?a=b&\u{301}k=c&key=s", "/?a=b&\u{301}k=c"),
      ("/?%+6bey=s&%6Bey=s", "/?%+6bey=s"), ("/?k%65y=s", "/"),
    ])
  func marks(target: String, kept: String) {
    #expect(Array(CredentialFields(parameters: ["key"]).removed(from: target).utf8) == Array(kept.utf8))
  }

  @Test(
    "After a redirect to another origin, Referer contains at most the origin",
    arguments: [
      ("https://a.example/path?q=secret", "https://b.example/", "https://a.example/"),
      ("https://a.example", "https://b.example/", "https://a.example/"),
      ("https://a.example/path", "http://b.example/", nil),
      ("http://a.example/path", "http://b.example/", "http://a.example/"),
      ("https://me:secret@a.example/", "https://b.example/", nil), ("secret", "https://b.example/", nil),
    ] as [(String, String, String?)])
  func source(referer: String, location: String, expected: String?) throws {
    let kept = try hop(location, [.referer: referer, .origin: "https://a.example"]).request.head.headerFields
    #expect(kept[.referer] == expected)
    #expect(kept[.origin] == "null")
    let same = try hop("/y", [.referer: referer, .origin: "https://a.example"]).request.head.headerFields
    #expect(same[.referer] == referer && same[.origin] == "https://a.example")
  }
}
