import Backend
import Testing

@Suite struct SignInPageTests {
  @Test func `The metadata contains the endpoints with the server's own address`() async throws {
    try await withBackend { backend, client in
      let metadata = try await client.send(
        "GET", "/.well-known/oauth-authorization-server", fields: ["X-Forwarded-Host: example.com"]
      ).json()
      #expect(metadata["issuer"] == .string(backend.baseURL))
      #expect(metadata["authorization_endpoint"] == .string(backend.baseURL + "/authorize"))
      #expect(metadata["token_endpoint"] == .string(backend.baseURL + "/token"))
      #expect(metadata["revocation_endpoint"] == .string(backend.baseURL + "/revoke"))
      #expect(metadata["code_challenge_methods_supported"] == .array([.string("S256")]))
      #expect(metadata["authorization_response_iss_parameter_supported"] == .bool(true))
    }
  }

  @Test func `The page has a form, cannot be embedded in a frame, and contains no part of its URL`() async throws {
    try await withBackend { _, client in
      let page = try await client.get(SignInPage.target(["state": "<marker>"]))
      #expect(page.status == 200)
      #expect(page["content-type"] == "text/html; charset=utf-8")
      #expect(page["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
      #expect(page.text.contains(#"name="password""#))
      #expect(!page.text.contains("marker") && !page.text.contains("callback"))
    }
  }

  @Test func `A sign-in redirects to the app with a code, the state and the issuer`() async throws {
    try await withBackend { backend, client in
      _ = try await client.signIn()
      let answer = try await SignInPage(client: client).submit()
      #expect(answer.status == 303)
      #expect(answer["cache-control"] == "no-store")
      let parameters = try SignInPage.parameters(of: answer)
      #expect(parameters["code"]?.count == 43)
      #expect(parameters["state"] == "a b&c")
      #expect(parameters["iss"] == backend.baseURL)
    }
  }

  @Test func `A wrong password shows the page again`() async throws {
    try await withBackend { _, client in
      _ = try await client.signIn()
      let page = SignInPage(client: client)
      for answer in [try await page.submit(password: "wrong"), try await page.submit(email: "x@example.com")] {
        #expect(answer.status == 403)
        #expect(answer["location"] == nil)
        #expect(answer.text.contains("wrong") && answer.text.contains(#"name="password""#))
      }
    }
  }

  @Test func `A cancelled sign-in redirects to the app`() async throws {
    try await withBackend { _, client in
      let parameters = try SignInPage.parameters(
        of: try await client.post(SignInPage.target(), form: "decision=cancel"))
      #expect(parameters["error"] == "access_denied")
      #expect(parameters["state"] == "a b&c")
      #expect(parameters["code"] == nil)
    }
  }

  @Test func `Without a known client and redirect the browser is not redirected, even after a sign-in`() async throws {
    try await withBackend { _, client in
      _ = try await client.signIn()
      for changes in [["client_id": "other"], ["redirect_uri": "https://example.com/callback"]] {
        let form = "email=ann%40example.com&password=12345678"
        let target = SignInPage.target(changes)
        for answer in [try await client.get(target), try await client.post(target, form: form)] {
          #expect(answer.status == 400)
          #expect(answer["location"] == nil)
          #expect(!answer.text.contains("example.com"))
        }
      }
    }
  }

  @Test func `Without a code challenge the app gets an error instead of a page`() async throws {
    try await withBackend { backend, client in
      let answer = try await client.get(SignInPage.target(["code_challenge_method": "plain"]))
      #expect(answer.status == 303)
      let parameters = try SignInPage.parameters(of: answer)
      #expect(parameters["error"] == "invalid_request")
      #expect(parameters["iss"] == backend.baseURL)
    }
  }

  @Test func `A malformed query or form is a client error`() async throws {
    try await withBackend { (_, client) async throws in
      #expect(try await client.get("/authorize?client_id=%").status == 400)
      #expect(try await client.post(SignInPage.target(), form: "email=%").status == 400)
      #expect(try await client.post(SignInPage.target(), "{}").status == 415)
    }
  }
}
