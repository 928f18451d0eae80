import ApusCore
import ApusMiddleware
import ApusTesting
import Testing

@Suite("Allowed origins")
struct AllowedOriginsMiddlewareTests {
  private let stub = StubTransport.answering(.text("ok"))

  private var client: Client {
    var client = TestClient.following(.follow, "https://api.example.com/v1")
    let redirects = client.customize
    client.customize = {
      redirects(&$0)
      $0.insert(
        AllowedOriginsMiddleware([Origin(scheme: "https", host: "cdn.example.com", port: 443)]), .before(.transport))
    }
    return client.over(stub)
  }

  private func refusal(_ url: String) async throws -> CallError {
    try #require(await failure { _ = try await client.send(Request<String>.get(.url(url))) })
  }

  @Test("Messages to the base URL's origin and to allowed origins are sent")
  func allowed() async throws {
    for path in ["/users", .url("https://api.example.com/x"), .url("https://cdn.example.com/x")] as [RequestPath] {
      _ = try await client.send(Request<String>.get(path))
    }
    #expect(stub.exchanges.count == 3)
  }

  @Test(
    "A message to an origin that is not allowed is refused before it is sent",
    arguments: [
      "http://cdn.example.com/", "https://cdn.example.com:8443/", "https://cdn.example.com./",
      "https://cdn.example.com.evil.example/", "https://evil.example/?https://cdn.example.com",
    ])
  func refused(url: String) async throws {
    let error = try await refusal(url)
    #expect(error.code == .refused && error.requestState == .notSent)
    #expect(error.underlying as? DestinationRefusal == .origin)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("A redirect to an origin that is not allowed is refused")
  func redirected() async throws {
    stub.on(url: "https://cdn.example.com/a", .redirect(to: "https://evil.example/b"))
    let error = try await refusal("https://cdn.example.com/a")
    #expect(error.underlying as? DestinationRefusal == .origin)
    #expect(error.requestState == .maybeSent)
    #expect(stub.urls == ["https://cdn.example.com/a"])
  }
}
