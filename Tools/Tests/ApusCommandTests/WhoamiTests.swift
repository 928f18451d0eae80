import ApusTestServer
import Foundation
import Testing

/// `apus whoami` and `apus logout`, run as a process.
@Suite("apus whoami and logout", .timeLimit(.minutes(3)))
struct WhoamiTests {
  private let profiles = TestProfiles()

  private struct Listed: Decodable {
    var name: String
    var scheme: String
    var origin: String
    var user: String?
    var since: String
    var signedIn: Bool
  }

  @Test("Profiles are listed by name, with users and without secrets")
  func list() async throws {
    _ = try await profiles.logIn("work", "h.example:8443", token: "t0ken")
    _ = try await profiles.run("login", "home", "h.example", "--basic", "ada", input: "secret\n")
    let all = try await profiles.run("whoami")
    #expect(all.status == 0)
    let lines = all.lines
    try #require(lines.count == 2)
    #expect(lines[0].hasPrefix("home  basic   https://h.example       ada  since 20") && lines[0].hasSuffix("Z"))
    #expect(lines[1].hasPrefix("work  bearer  https://h.example:8443  -    since 20"))
    #expect(!all.text.contains("t0ken") && !all.text.contains("secret"))
    let one = try await profiles.run("whoami", "home", "--json")
    let listed = try JSONDecoder().decode([Listed].self, from: one.output)
    #expect(listed.map(\.name) == ["home"])
    #expect(listed.first?.origin == "https://h.example" && listed.first?.user == "ada")
    #expect(listed.first?.scheme == "basic" && listed.first?.signedIn == true)
    #expect(!one.text.contains("secret"))
  }

  @Test("An empty list is not an error")
  func nothing() async throws {
    let run = try await profiles.run("whoami")
    #expect(run.status == 0)
    #expect(run.text == "")
    #expect(run.error == "apus: There are no profiles in \(profiles.path). Create one with `apus login`.\n")
    let json = try await profiles.run("whoami", "--json")
    #expect(try JSONDecoder().decode([Listed].self, from: json.output).isEmpty)
    #expect(json.error == "")
    #expect(profiles.contents == [])
  }

  @Test("A profile with a folder but no secret is signed out")
  func emptied() async throws {
    _ = try await profiles.logIn("work", "h.example", token: "t0ken")
    for folder in profiles.credentials { try FileManager.default.removeItem(atPath: "\(folder)/secret") }
    let run = try await profiles.run("whoami")
    #expect(run.text == "work  bearer  https://h.example  -  signed out\n")
    #expect(run.status == 0)
  }

  @Test("A damaged profile does not hide other profiles")
  func damaged() async throws {
    _ = try await profiles.logIn("work", "h.example", token: "t0ken")
    try Data("{".utf8).write(to: URL(filePath: "\(profiles.path)/profiles/broken.json"))
    let run = try await profiles.run("whoami")
    #expect(run.status == 26)
    #expect(run.lines.count == 1 && run.text.hasPrefix("work  bearer"))
    #expect(run.error.hasPrefix("apus: The profile “broken” is damaged"))
  }

  @Test("After a logout the profile's name sends no request")
  func logout() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { server in
      _ = try await profiles.logIn("work", server.origin, token: "t0ken")
      _ = try await profiles.logIn("other", server.origin, token: "other")
      let logout = try await profiles.run("logout", "work")
      #expect(logout.text == "work: signed out\n")
      #expect(logout.status == 0)
      let run = try await profiles.run("send", "--profile", "work", "\(server.origin)/")
      #expect(run.status == 26)
      #expect(run.error.hasPrefix("apus: There is no profile “work” in "))
      #expect(server.exchanges.isEmpty)
      #expect(profiles.credentials.count == 1)
      let again = try await profiles.run("logout", "work")
      #expect(again.status == 26)
    }
  }

  @Test("--all removes all profiles, including damaged and unfinished profiles")
  func all() async throws {
    _ = try await profiles.logIn("one", "h.example", token: "t0ken")
    _ = try await profiles.logIn("two", "h.example", token: "t0ken")
    try Data("{".utf8).write(to: URL(filePath: "\(profiles.path)/profiles/two.json"))
    try FileManager.default.createDirectory(
      atPath: "\(profiles.path)/credentials/three.0123456789abcdef", withIntermediateDirectories: true)
    let run = try await profiles.run("logout", "--all")
    #expect(run.status == 0, "\(run.error)")
    #expect(run.text == "one: signed out\ntwo: signed out\n")
    #expect(profiles.credentials == [])
    let again = try await profiles.run("logout", "--all")
    #expect(again.status == 0)
    #expect(again.error.hasPrefix("apus: There are no profiles in "))
  }

  @Test(
    "logout requires a profile or --all", arguments: [["logout"], ["logout", "work", "--all"], ["logout", "a/b"]])
  func refused(arguments: [String]) async throws {
    let run = try await ToolRun.of(arguments, .init(environment: profiles.environment))
    #expect(run.status == 64)
  }
}
