import ApusTestServer
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `apus login --oauth` and the commands that use its tokens, run as processes.
@Suite("apus login --oauth", .timeLimit(.minutes(3)))
struct OAuthLoginTests {
  private let profiles = TestProfiles()

  /// Logs in with a browser that opens each page immediately.
  private func logIn(_ server: TestServer, _ options: String..., input: String = "") async throws -> ToolRun {
    let messages = try PipeEnds()
    let setting = ToolRun.Setting(
      input: Data(input.utf8), environment: profiles.environment, error: messages.write)
    let arguments = ["login", "work", server.origin, "--oauth", server.origin, "--client-id", "tool"] + options
    return try await ToolRun.of(arguments, setting) { _ in
      let text = await messages.receive()
      let page = try #require(
        text.split(separator: "\n").first { $0.hasPrefix(server.origin) }.map(String.init), "\(text)")
      _ = try await URLSession.shared.data(from: try #require(URL(string: page)))
    }
  }

  /// Runs the commands of a test with an authorization server.
  private func withServer(
    _ authority: AuthorizationServer = AuthorizationServer(), _ work: (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.with {
      authority.reply(to: $0)
    } body: {
      try await work($0)
    }
  }

  private struct Listed: Decodable {
    var scheme: String
    var user: String?
    var signedIn: Bool
    var issuer: String?
    var scopes: [String]?
    var expires: String?
    var refreshes: Bool?
  }

  private func listed() async throws -> Listed {
    let run = try await profiles.run("whoami", "work", "--json")
    return try #require(try JSONDecoder().decode([Listed].self, from: run.output).first, "\(run.error)")
  }

  @Test("A sign-in in the browser creates a profile whose tokens are sent to its server only")
  func browser() async throws {
    try await withServer { server in
      let login = try await logIn(server, "--scope", "openid films:read")
      #expect(login.text == "work: signed in to \(server.origin) as ada@example.com\n")
      #expect(login.status == 0)
      let run = try await profiles.run("send", "--profile", "work", "/films")
      #expect(run.text == "hi", "\(run.error)")
      let page = try #require(server.exchanges.first { $0.target.hasPrefix("/authorize?") }?.target)
      #expect(page.contains("code_challenge_method=S256") && page.contains("scope=openid+films%3Aread"))
      #expect(server.exchanges.last?.field("Authorization") == "Bearer access-1")
      let other = try await profiles.run("send", "--profile", "work", "https://other.example/")
      #expect(other.status == 3 && other.error.contains("Nothing was sent."), "\(other.error)")
    }
  }

  @Test("whoami prints account, issuer, scopes and expiration, without tokens")
  func whoami() async throws {
    try await withServer { server in
      _ = try await logIn(server, "--scope", "openid", "--scope", "films:read")
      let run = try await profiles.run("whoami")
      #expect(run.text.hasPrefix("work  oauth  \(server.origin)  ada@example.com  since 20"), "\(run.text)\(run.error)")
      #expect(run.text.contains(", next refresh by 20") && !run.text.contains("access-1"))
      let listed = try await listed()
      #expect(listed.scheme == "oauth" && listed.user == "ada@example.com" && listed.signedIn)
      #expect(listed.issuer == server.origin && listed.scopes == ["openid", "films:read"])
      let expiry = try Date(try #require(listed.expires), strategy: .iso8601)
      #expect((3000...3600).contains(expiry.timeIntervalSinceNow) && listed.refreshes == true)
    }
  }

  @Test("A rejected token is refreshed once, and the new tokens are stored")
  func refresh() async throws {
    let authority = AuthorizationServer()
    try await withServer(authority) { server in
      _ = try await logIn(server)
      authority.endAccess()
      let run = try await profiles.run("send", "--profile", "work", "/a")
      #expect(run.text == "hi", "\(run.error)")
      let again = try await profiles.run("send", "--profile", "work", "/b")
      #expect(again.text == "hi", "\(again.error)")
      let sent = server.exchanges.filter { ["/a", "/b"].contains($0.target) }.map { $0.field("Authorization") }
      #expect(sent == ["Bearer access-1", "Bearer access-2", "Bearer access-2"])
      #expect(server.exchanges.filter { $0.text.contains("grant_type=refresh_token") }.count == 1)
    }
  }

  @Test("A rejected refresh ends the sign-in, and the message contains the command for a new sign-in")
  func ended() async throws {
    let authority = AuthorizationServer()
    try await withServer(authority) { server in
      _ = try await logIn(server)
      authority.endSession()
      let run = try await profiles.run("send", "--profile", "work", "/a")
      let hint = "apus: The profile “work” is signed out. Sign in with `apus login work \(server.origin)`.\n"
      #expect(run.status == 3 && run.error.hasPrefix(hint), "\(run.error)")
      let again = try await profiles.run("send", "--profile", "work", "/a")
      #expect(again.status == 3 && again.error == hint, "\(again.error)")
      #expect(try await !listed().signedIn)
    }
  }

  @Test("With --device the user enters a code on any device")
  func device() async throws {
    let authority = AuthorizationServer()
    try await withServer(authority) { server in
      let messages = try PipeEnds()
      let setting = ToolRun.Setting(environment: profiles.environment, error: messages.write)
      let arguments = [
        "login", "work", server.origin, "--oauth", server.origin, "--client-id", "tool", "--device", "--scope",
        "openid",
      ]
      let login = try await ToolRun.of(arguments, setting) { _ in
        let text = await messages.receive()
        #expect(text == "Open \(server.origin)/enter on any device and enter the code ABCD-EFGH.\n")
        authority.allowDevice()
      }
      #expect(login.text == "work: signed in to \(server.origin) as ada@example.com\n")
      #expect(try await profiles.run("send", "--profile", "work", "/films").text == "hi")
    }
  }

  @Test("A client's secret is read from standard input and sent in each token request, including refreshes")
  func secret() async throws {
    let authority = AuthorizationServer(clientSecret: "client-secret")
    try await withServer(authority) { server in
      let login = try await logIn(server, "--from", "-", input: "client-secret\n")
      #expect(login.status == 0)
      authority.endAccess()
      let run = try await profiles.run("send", "--profile", "work", "/a")
      #expect(run.text == "hi", "\(run.error)")
    }
  }

  @Test("Files and messages contain neither tokens nor the client's secret in readable form")
  func sentinels() async throws {
    let authority = AuthorizationServer(clientSecret: "client-secret")
    try await withServer(authority) { server in
      let login = try await logIn(server, "--from", "-", input: "client-secret\n")
      let runs = [
        login, try await profiles.run("whoami", "--json"),
        try await profiles.run("send", "--profile", "work", "/a", "--trace"),
        try await profiles.run("send", "--profile", "work", "/a", "--curl"),
      ]
      for secret in ["access-1", "refresh-1", "client-secret"] {
        #expect(profiles.files(with: secret) == [])
        for run in runs { #expect(!run.text.contains(secret) && !run.error.contains(secret)) }
      }
    }
  }

  @Test("logout revokes the tokens at the server and removes them")
  func logout() async throws {
    let authority = AuthorizationServer()
    try await withServer(authority) { server in
      _ = try await logIn(server)
      let logout = try await profiles.run("logout", "work")
      #expect(logout.text == "work: signed out, tokens revoked\n", "\(logout.error)")
      #expect(logout.status == 0)
      #expect(authority.revoked == ["refresh-1", "access-1"])
      #expect(profiles.credentials == [])
    }
  }

  @Test("A server that cannot revoke tokens, or cannot be reached, does not prevent a logout")
  func localLogout() async throws {
    try await withServer(AuthorizationServer(revokes: false)) { server in
      _ = try await logIn(server)
      let logout = try await profiles.run("logout", "work")
      #expect(logout.text == "work: signed out on this machine; the server cannot revoke tokens\n")
      #expect(logout.status == 0)
    }
    try await withServer { server in _ = try await logIn(server) }
    let logout = try await profiles.run("logout", "work")
    #expect(logout.text == "work: signed out on this machine; the tokens were not revoked\n")
    #expect(logout.status == 7, "\(logout.error)")
    #expect(profiles.credentials == [])
  }

  @Test("A user who declines leaves no profile")
  func declined() async throws {
    try await withServer(AuthorizationServer(declines: true)) { server in
      let login = try await logIn(server)
      #expect(login.status == 22)
      #expect(profiles.contents == [])
    }
  }

  @Test("An interrupt while the browser is open leaves no profile")
  func interrupted() async throws {
    try await withServer { server in
      let messages = try PipeEnds()
      let setting = ToolRun.Setting(environment: profiles.environment, error: messages.write)
      let arguments = ["login", "work", server.origin, "--oauth", server.origin, "--client-id", "tool"]
      let run = try await ToolRun.of(arguments, setting) { process in
        #expect(await messages.receive().contains("/authorize?"))
        kill(process, SIGINT)
      }
      #expect(run.status == 130)
      #expect(profiles.contents == [])
    }
  }

  @Test("A server without metadata, with another issuer or without TLS is refused with the reason")
  func refusedServers() async throws {
    try await TestServer.with { request in
      request.target.hasSuffix("/other")
        ? .json(#"{"issuer":"https://evil.example","token_endpoint":"https://evil.example/t"}"#) : .status(404)
    } body: { server in
      let cases: [(String, Int32, String)] = [
        (server.origin, 22, "404"), ("\(server.origin)/other", 8, "issuer_mismatch"),
        ("http://id.example", 3, "insecure_url"),
      ]
      for (issuer, status, reason) in cases {
        let run = try await profiles.run("login", "work", server.origin, "--oauth", issuer, "--client-id", "tool")
        #expect(run.status == status && run.error.contains(reason), "\(run.status) \(run.error)")
      }
      #expect(profiles.contents == [])
    }
  }

  @Test(
    "Invalid command lines are rejected",
    arguments: [
      (["--oauth", "https://id.example"], "needs --client-id"),
      (["--oauth", "id.example", "--client-id", "a"], "takes the URL of an authorization server"),
      (["--oauth", "https://id.example", "--client-id", "a", "--bearer"], "Choose one of"),
      (["--oauth", "https://id.example", "--client-id", "a", "--device", "--port", "80"], "mutually exclusive"),
      (["--oauth", "https://id.example", "--client-id", "a", "--port", "70000"], "invalid"),
      (["--bearer", "--scope", "a"], "need --oauth"), (["--bearer", "--client-id", "a"], "need --oauth"),
    ])
  func refused(options: [String], reason: String) async throws {
    let run = try await ToolRun.of(["login", "work", "h.example"] + options, .init(environment: profiles.environment))
    #expect(run.status == 64)
    #expect(run.error.contains(reason), "\(run.error)")
    #expect(profiles.contents == [])
  }
}
