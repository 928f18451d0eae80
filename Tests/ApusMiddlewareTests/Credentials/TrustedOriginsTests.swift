import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Secrets and complete URLs")
struct TrustedOriginsTests {
  private let stub = StubTransport.answering(.text("ok"))
  private let files = Origin(scheme: "https", host: "files.example.com", port: 443)

  private func client(_ customize: @escaping (inout Pipeline) -> Void = { _ in }) -> Client {
    var client = TestClient.following(.follow, "https://api.example.com/v1")
    let redirects = client.customize
    client.customize = {
      redirects(&$0)
      customize(&$0)
    }
    client.environment.authentication = .bearer(MemoryCredentialsStore(token: sentinel))
    client.environment.setField("X-App", "apus/1")
    client.environment.setField("X-Tenant", sentinel, isSensitive: true)
    client.environment.setField("x-api-key", sentinel)
    client.environment.query = ["lang": "en", "key": "\(sentinel)"]
    return client.over(stub)
  }

  private func request(_ url: String) -> Request<String> { .get(.url(url)) }

  private func secrets(of exchange: StubExchange) -> [String] {
    exchange.fields.filter { $0.value.contains(sentinel) }.map(\.name.canonicalName).sorted()
  }

  @Test("A URL on another origin gets no credentials, no secret field and no common parameter")
  func otherOrigin() async throws {
    let urls = [
      "https://cdn.example.com/a", "http://api.example.com/v1/a", "https://api.example.com:8443/v1/a",
      "https://api.example.com.evil.example/v1/a",
    ]
    for url in urls { _ = try await client().send(request(url)) }
    #expect(stub.urls == urls)
    for exchange in stub.exchanges {
      #expect(secrets(of: exchange).isEmpty)
      #expect(exchange.fields[text: "X-App"] == "apus/1")
    }
  }

  @Test("A URL on the environment's own origin gets credentials and secret fields, but no common parameter")
  func ownOrigin() async throws {
    _ = try await client().send(request("HTTPS://API.example.com:443/other?signature=1"))
    #expect(stub.urls == ["https://api.example.com/other?signature=1"])
    #expect(secrets(of: stub.exchanges[0]) == ["authorization", "x-api-key", "x-tenant"])
  }

  @Test("An origin that the endpoint trusts gets credentials and secret fields; any other origin does not")
  func trusted() async throws {
    let api = client()
    _ = try await api.send(request("https://files.example.com/a").trusting(files))
    _ = try await api.send(request("https://cdn.example.com/a").trusting(files))
    _ = try await api.send(request("https://files.example.com/a"))
    #expect(stub.exchanges.map { secrets(of: $0) } == [["authorization", "x-api-key", "x-tenant"], [], []])
  }

  @Test("A redirect away from a trusted origin carries no secrets; a redirect to a trusted origin carries credentials")
  func redirected() async throws {
    stub.on(url: "https://files.example.com/a", .redirect(to: "https://cdn.example.com/b"))
    stub.on(url: "https://cdn.example.com/b", .redirect(to: "https://files.example.com/c"))
    _ = try await client().send(request("https://files.example.com/a").trusting(files))
    #expect(
      stub.exchanges.map { secrets(of: $0) } == [["authorization", "x-api-key", "x-tenant"], [], ["authorization"]])
  }

  @Test("Fields that the endpoint itself sets are sent to the URL's origin")
  func ownFields() async throws {
    _ = try await client().send(request("https://cdn.example.com/a").field("Authorization", "Bearer \(sentinel)"))
    #expect(secrets(of: stub.exchanges[0]) == ["authorization"])
  }

  @Test("The next page on another origin gets no credentials and no secret fields, unless the origin is trusted")
  func pages() async throws {
    let links = [
      "https://api.example.com/v1/1": "https://cdn.example.com/2", "https://cdn.example.com/2": "//files.example.com/3",
      "https://files.example.com/3": "https://api.example.com/4",
    ]
    for (url, next) in links { stub.on(url: url, .text(next)) }
    stub.on(url: "https://api.example.com/4", .text(""))
    let first = Request<String>.get("/1").field("X-Own", sentinel).trusting(files)
    var pages: [String] = []
    for try await page in client().pages(of: first, next: .url { $0 }) { pages.append(page) }
    #expect(pages.count == 4)
    #expect(
      stub.urls.dropFirst() == [
        "https://cdn.example.com/2", "https://files.example.com/3", "https://api.example.com/4",
      ])
    let all = ["authorization", "x-api-key", "x-own", "x-tenant"]
    #expect(stub.exchanges.map { secrets(of: $0) } == [all, [], all, all])
  }

  @Test("A call that requires credentials is sent without them to an origin that is not trusted")
  func required() async throws {
    _ = try await client().send(request("https://cdn.example.com/a").credentials(.required))
    #expect(secrets(of: stub.exchanges[0]).isEmpty)
  }
}
