import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import Testing

@testable import ApusMiddleware

/// Returns a message for the tests.
func message(
  _ method: HTTPRequest.Method = .get, _ url: String = "https://a.example/x", fields: HTTPFields = [:],
  content: MessageContent = .empty
) -> RequestMessage {
  let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
  let head = HTTPRequest(
    method: method, scheme: String(parts[0].dropLast()), authority: String(parts[2]), path: "/" + parts[3],
    headerFields: fields)
  return RequestMessage(head: head, content: content)
}

func redirect(_ status: Int = 302, _ location: String? = nil, fields: HTTPFields = [:]) -> HTTPResponse {
  var fields = fields
  if let location { fields.append(HTTPField(name: .location, value: location)) }
  return HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
}

extension RedirectState.Step {
  /// The request that is sent next.
  var request: RequestMessage? {
    if case .follow(let hop) = self { return hop.request }
    return nil
  }

  var refusal: RedirectRefusal? {
    if case .refuse(let refusal) = self { return refusal }
    return nil
  }

  var isAnswer: Bool {
    if case .finish = self { return true }
    return false
  }
}

extension RedirectState {
  init(_ policy: RedirectPolicy = .follow, at request: RequestMessage) throws {
    self.init(try #require(policy.limits), from: request)
  }
}

@Suite("Redirect state")
struct RedirectStateTests {
  private func step(
    _ head: HTTPResponse, to request: RequestMessage = message(), _ policy: RedirectPolicy = .follow
  ) throws -> RedirectState.Step {
    var state = try RedirectState(policy, at: request)
    return state.step(after: head, to: request, without: CredentialFields())
  }

  // MARK: Methods and content

  private static let methods: [HTTPRequest.Method] = [
    .get, .head, .post, .put, .patch, .delete, .options, HTTPRequest.Method("QUERY") ?? .get,
  ]

  /// The method after a redirect, by status; other statuses are final responses.
  private static func method(after status: Int, of method: HTTPRequest.Method) -> HTTPRequest.Method? {
    switch status {
    case 301, 302: method == .post ? .get : method
    case 303: method == .head ? .head : .get
    case 307, 308: method
    default: nil
    }
  }

  @Test(
    "Each status from 200 to 599 with each method is followed with the right method and content, or not followed",
    arguments: methods)
  func everyMethod(method: HTTPRequest.Method) throws {
    let fields: HTTPFields = [
      .contentType: "text/plain", .contentEncoding: "gzip", .contentLanguage: "en", .expect: "100-continue",
      .accept: "*/*",
    ]
    let request = message(method, fields: fields, content: .bytes(Data("abc".utf8)))
    for status in 200...599 {
      let step = try step(redirect(status, "/y"), to: request)
      guard let expected = Self.method(after: status, of: method) else {
        #expect(step.isAnswer, "\(status)")
        continue
      }
      let next = try #require(step.request, "\(status)")
      #expect(next.head.method == expected && next.url == "https://a.example/y")
      let keepsContent = expected == method && status != 303
      #expect(next.content.isEmpty != keepsContent, "\(status)")
      #expect(next.head.headerFields == (keepsContent ? fields : [.accept: "*/*"]), "\(status)")
    }
  }

  @Test("A redirect with a missing or empty Location is the response", arguments: [301, 302, 303, 307, 308])
  func nowhere(status: Int) throws {
    for location in [nil, "", " ", "\t"] { #expect(try step(redirect(status, location)).isAnswer) }
  }

  @Test("A redirect cannot resend one-time content, but may drop it")
  func streams() throws {
    let once = MessageContent.stream(ContentStream(isReplayable: false) { { nil } })
    let again = MessageContent.stream(ContentStream(isReplayable: true) { { nil } })
    for status in [307, 308] {
      #expect(try step(redirect(status, "/y"), to: message(.post, content: once)).refusal == .contentNotReplayable)
      #expect(try step(redirect(status, "/y"), to: message(.post, content: again)).request?.content.isEmpty == false)
    }
    #expect(try step(redirect(302, "/y"), to: message(.put, content: once)).refusal == .contentNotReplayable)
    for status in [301, 302, 303] {
      #expect(try step(redirect(status, "/y"), to: message(.post, content: once)).request?.content.isEmpty == true)
    }
  }

  // MARK: Targets

  @Test("Spaces around a Location are ignored")
  func oneField() throws {
    #expect(try step(redirect(302, " \t/y\t ")).request?.target == "/y")
    #expect(try step(redirect(302, "/y", fields: [.location: " "])).request?.target == "/y")
  }

  @Test(
    "A Location with commas is one URL, with or without spaces after the commas",
    arguments: [
      ("/Paris, France", "/Paris,%20France"), ("/a,b?c=1, 2", "/a,b?c=1,%202"),
      ("https://a.example/x, https://b.example/y", "/x,%20https://b.example/y"),
    ])
  func commas(location: String, target: String) throws {
    let next = try #require(try step(redirect(302, location)).request)
    #expect(next.target == target && next.head.authority == "a.example")
  }

  @Test("Two equal Location fields are treated as one field; two different fields are malformed")
  func several() throws {
    #expect(try step(redirect(302, "/y", fields: [.location: "/y"])).request?.target == "/y")
    #expect(try step(redirect(302, "/y", fields: [.location: "./y"])).request?.target == "/y")
    #expect(
      try step(redirect(302, "/y", fields: [.location: "/z"])).refusal == .malformedLocation("it has several Locations")
    )
  }

  @Test("A redirect from https to http is refused unless it is allowed; from http to https it is followed")
  func downgrade() throws {
    #expect(try step(redirect(302, "http://a.example/")).refusal == .insecure)
    #expect(try step(redirect(302, "http://b.example/")).refusal == .insecure)
    #expect(try step(redirect(302, "http://a.example/"), .follow(allowsInsecure: true)).request?.head.scheme == "http")
    let insecure = message(.get, "http://a.example/x")
    #expect(try step(redirect(302, "https://a.example/"), to: insecure).request?.head.scheme == "https")
    #expect(try step(redirect(302, "//b.example/"), to: insecure).request?.url == "http://b.example/")
  }

  @Test("Every redirect must lead to an allowed host, or to the host of the call")
  func hosts() throws {
    let policy = RedirectPolicy.follow(hosts: ["B.example", "bücher.example"])
    var request = message()
    var state = try RedirectState(policy, at: request)
    for (location, isAllowed) in [
      ("https://b.example/1", true), ("https://c.example/", false), ("https://xn--bcher-kva.example:8443/", true),
      ("https://sub.b.example/", false), ("https://b.example.c.example/", false), ("https://a.example/2", true),
      ("/3", true),
    ] {
      let step = state.step(after: redirect(302, location), to: request, without: CredentialFields())
      #expect((step.request != nil) == isAllowed, "\(location)")
      if !isAllowed { #expect(step.refusal == .hostNotAllowed) }
      request = step.request ?? request
    }
    #expect(try self.step(redirect(302, "/y"), .follow(hosts: [])).request != nil)
    #expect(try self.step(redirect(302, "https://b.example/"), .follow(hosts: [])).refusal == .hostNotAllowed)
  }

  // MARK: Limits

  /// Returns the number of redirects that are followed from `/0` to `/1` to `/2` and so on, and the refusal that ends
  /// them.
  private func length(_ policy: RedirectPolicy) throws -> (Int, RedirectRefusal?) {
    var request = message()
    var state = try RedirectState(policy, at: request)
    for count in 0..<100 {
      let step = state.step(after: redirect(302, "/\(count)"), to: request, without: CredentialFields())
      guard let next = step.request else { return (count, step.refusal) }
      request = next
    }
    return (100, nil)
  }

  @Test("Ten redirects in a row, or as many as the policy allows, are followed; the next redirect is refused")
  func limit() throws {
    for (policy, limit) in [
      (.follow, 10), (.follow(limit: 0), 0), (.follow(limit: 1), 1), (.follow(limit: 20), 20), (.follow(limit: -1), 0),
    ] as [(RedirectPolicy, Int)] {
      let (count, refusal) = try length(policy)
      #expect(count == limit && refusal == .tooManyRedirects(limit: limit))
    }
  }

  @Test("A redirect loop is detected by the same method and URL")
  func loop() throws {
    #expect(try step(redirect(302, "/x")).refusal == .loop)
    #expect(try step(redirect(302, "#at")).refusal == .loop)
    // The redirect of a submitted form to the same URL is no loop, because the method differs.
    #expect(try step(redirect(303, "/x"), to: message(.post)).request?.head.method == .get)
    #expect(try step(redirect(307, "/x"), to: message(.post)).refusal == .loop)
    var request = message()
    var state = try RedirectState(at: request)
    for location in ["/1", "/2"] {
      let next = state.step(after: redirect(302, location), to: request, without: CredentialFields()).request
      request = try #require(next)
    }
    #expect(state.step(after: redirect(302, "/1"), to: request, without: CredentialFields()).refusal == .loop)
  }

  @Test("After a new cookie the same URL may be requested again; then only the limit ends a loop")
  func cookies() throws {
    let request = message()
    var state = try RedirectState(at: request)
    for _ in 0..<10 {
      let head = redirect(302, "/x", fields: [.setCookie: "a=1"])
      #expect(state.step(after: head, to: request, without: CredentialFields()).request != nil)
    }
    #expect(
      state.step(after: redirect(302, "/x", fields: [.setCookie: "a=1"]), to: request, without: CredentialFields())
        .refusal == .tooManyRedirects(limit: 10))
    state = try RedirectState(at: request)
    _ = state.step(after: redirect(302, "/x", fields: [.setCookie: "a=1"]), to: request, without: CredentialFields())
    #expect(state.step(after: redirect(302, "/x"), to: request, without: CredentialFields()).refusal == .loop)
  }

  @Test(
    "Any series of redirects ends, and removed fields are never restored",
    arguments: 0..<8 as Range<UInt64>)
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let origins = [
      "https://a.example", "https://b.example", "https://a.example:8443", "http://a.example", "http://c.example",
    ]
    for _ in 0..<500 {
      let policy = RedirectPolicy.follow(
        limit: Int.random(in: 0..<8, using: &random), allowsInsecure: .random(using: &random))
      var request = message(Self.methods.randomElement(using: &random) ?? .get, fields: [.authorization: "own"])
      var state = try RedirectState(policy, at: request)
      var hops = 0
      var hasLeft = false
      while true {
        let status = [301, 302, 303, 307, 308, 304, 200].randomElement(using: &random) ?? 200
        let location =
          (Bool.random(using: &random) ? origins.randomElement(using: &random) ?? "" : "") + "/\(random.next() % 4)"
        let step = state.step(after: redirect(status, location), to: request, without: CredentialFields())
        guard let next = step.request else {
          #expect(step.isAnswer == ![301, 302, 303, 307, 308].contains(status))
          break
        }
        hops += 1
        hasLeft = hasLeft || next.origin != request.origin
        #expect(hops <= policy.limits?.hops ?? 0)
        #expect((next.head.headerFields[.authorization] == nil) == hasLeft)
        #expect(policy.limits?.allowsInsecure == true || next.head.scheme == "https" || request.head.scheme == "http")
        request = next
      }
    }
  }
}
