import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@Suite("The redirect policy for URLs from a response")
struct NamedURLTests {
  private let stub = StubTransport()

  /// Returns the values of a list of two pages, the second with an http URL, and the error.
  private func list(
    _ standard: RedirectPolicy = .follow, _ policy: RedirectPolicy? = nil
  ) async -> (pages: [[Int]], error: CallError?) {
    var fields = HTTPFields()
    if let name = HTTPField.Name("Link") { fields[name] = "<http://a.example/2>; rel=next" }
    stub.on(url: "https://a.example/1", .json("[1]", fields: fields))
    stub.on(url: "http://a.example/2", .json("[2]"))
    let api = TestClient.following(standard).over(stub)
    let request = Request<[Int]>.get("/1")
    var pages: [[Int]] = []
    do throws(CallError) {
      for try await page in api.pages(of: policy.map { request.redirects($0) } ?? request, next: .link) {
        pages.append(page)
      }
      return (pages, nil)
    } catch {
      return (pages, error)
    }
  }

  @Test(
    "A call's or client's policy that permits redirects from https to http permits http page URLs",
    arguments: [
      (.follow(allowsInsecure: true), nil), (.follow, .follow(allowsInsecure: true)),
      (.none, .follow(limit: 0, allowsInsecure: true)),
    ] as [(RedirectPolicy, RedirectPolicy?)])
  func permitted(standard: RedirectPolicy, policy: RedirectPolicy?) async {
    let (pages, error) = await list(standard, policy)
    #expect(pages == [[1], [2]] && error == nil)
    #expect(stub.urls == ["https://a.example/1", "http://a.example/2"])
  }

  @Test(
    "A policy that does not permit redirects from https to http refuses http page URLs",
    arguments: [
      (.follow, nil), (.none, nil), (.follow(allowsInsecure: true), .follow),
      (.follow(allowsInsecure: true), RedirectPolicy.none),
    ] as [(RedirectPolicy, RedirectPolicy?)])
  func refused(standard: RedirectPolicy, policy: RedirectPolicy?) async {
    let (pages, error) = await list(standard, policy)
    #expect(pages == [[1]] && error?.code == .malformedResponse && error?.requestState == .responded)
    #expect(stub.urls == ["https://a.example/1"])
  }

  @Test("A redirect from a page URL is subject to the same policy as any redirect")
  func redirected() async throws {
    stub.on(url: "https://a.example/2", .redirect(to: "http://a.example/3"))
    let api = TestClient.following().over(stub)
    let named = RequestPath.url("https://a.example/2").named(by: Origin(scheme: "https", host: "a.example", port: 443))
    let request = Request<[Int]>.get(named)
    let error = await failure { try await api.send(request) }
    #expect((error?.underlying as? RedirectRefusal) == .insecure && stub.urls == ["https://a.example/2"])
  }
}
