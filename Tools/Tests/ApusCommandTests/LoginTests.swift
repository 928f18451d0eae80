import ApusTestServer
import Foundation
import Testing

/// `apus login`, run as a process.
@Suite("apus login", .timeLimit(.minutes(3)))
struct LoginTests {
  private let profiles = TestProfiles()

  @Test("The first line of standard input is stored as the password, and sent to the profile's server")
  func password() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let login = try await profiles.run("login", "work", server.origin, "--basic", "ada", input: "secret\nmore\n")
      #expect(login.text == "work: signed in to \(server.origin) as ada\n")
      #expect(login.error == "")
      #expect(login.status == 0)
      for _ in 0..<2 {
        let run = try await profiles.run("send", "--profile", "work", "\(server.origin)/a")
        #expect(run.text == "hi")
        #expect(run.error == "")
      }
      let basic = "Basic YWRhOnNlY3JldA=="
      #expect(server.exchanges.map { $0.field("Authorization") } == [basic, basic])
    }
  }

  @Test(
    "The first line of a file is a token, whatever its newline", arguments: ["t0ken", "t0ken\n", "t0ken\r\nmore\r\n"])
  func token(content: String) async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID())")
    try Data(content.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let login = try await profiles.run("login", "work", server.origin, "--bearer", "--from", file.path)
      #expect(login.text == "work: signed in to \(server.origin)\n")
      _ = try await profiles.run("send", "--profile", "work", server.origin)
      #expect(server.exchanges.map { $0.field("Authorization") } == ["Bearer t0ken"])
    }
  }

  @Test("Digest authentication does not send the password")
  func digest() async throws {
    try await TestServer.with { request in
      let isProven = request.field("Authorization")?.hasPrefix("Digest ") == true
      let challenge = #"Digest realm="r", nonce="abc", qop="auth", algorithm=SHA-256"#
      return isProven ? .text("hi") : .text("who?", status: 401, fields: ["WWW-Authenticate": challenge])
    } body: { server in
      _ = try await profiles.run("login", "work", server.origin, "--digest", "ada", input: "secret\n")
      let run = try await profiles.run("send", "--profile", "work", server.origin)
      #expect(run.text == "hi", "\(run.error)")
      let shown = try #require(server.exchanges.last?.field("Authorization"))
      #expect(shown.contains(#"username="ada""#) && !shown.contains("secret"))
      let curl = try await profiles.run("send", "--curl", "--profile", "work", server.origin)
      #expect(curl.text.contains("--digest --user ") && !curl.text.contains("secret"))
    }
  }

  @Test("A terminal is prompted, without echo")
  func terminal() async throws {
    let terminal = try PseudoTerminal()
    let messages = try PipeEnds()
    let setting = ToolRun.Setting(
      inputEnd: terminal.program, environment: profiles.environment, error: messages.write)
    let run = try await ToolRun.of(["login", "work", "h.example", "--basic", "ada"], setting) { _ in
      #expect(await messages.receive() == "Password of ada for https://h.example: ")
      terminal.enter("secret\n")
    }
    #expect(run.text == "work: signed in to https://h.example as ada\n")
    #expect(run.status == 0)
    #expect(terminal.echoes)
    #expect(terminal.shown() == "")
  }

  @Test("An interrupt at the prompt restores the terminal and stores no profile")
  func interrupted() async throws {
    let terminal = try PseudoTerminal()
    let messages = try PipeEnds()
    let setting = ToolRun.Setting(
      inputEnd: terminal.program, environment: profiles.environment, error: messages.write)
    let run = try await ToolRun.of(["login", "work", "h.example", "--bearer"], setting) { process in
      #expect(await messages.receive() == "Token for https://h.example: ")
      kill(process, SIGINT)
    }
    #expect(run.status == 130)
    #expect(terminal.echoes)
    #expect(profiles.contents == [])
  }

  @Test("Invalid command lines are rejected, including secrets as arguments", arguments: Refused.all)
  func refused(line: Refused) async throws {
    let run = try await ToolRun.of(
      ["login"] + line.arguments, .init(input: Data("t\n".utf8), environment: profiles.environment))
    #expect(run.status == 64)
    #expect(run.error.contains(line.reason), "\(run.error)")
    #expect(!run.error.contains("s3same"))
    #expect(profiles.contents == [])
  }

  /// An invalid command line.
  struct Refused: Sendable {
    var arguments: [String]
    var reason: String

    init(_ arguments: String..., reason: String) {
      (self.arguments, self.reason) = (arguments, reason)
    }

    static let all = [
      Refused("work", "h.example", reason: "one of --bearer"),
      Refused("work", "h.example", "--bearer", "--basic", "ada", reason: "one of --bearer"),
      Refused("work", "h.example", "--basic", "ada:s3same", reason: "contain a colon"),
      Refused("work", "h.example", "--bearer", "t0ken", reason: "nexpected argument"),
      Refused("work", "https://ada:s3same@h.example", "--bearer", reason: "The URL contains a name or a password"),
      Refused("work", "http://h.example", "--bearer", reason: "--allow-plain-http"),
      Refused("work", "h.example/v1", "--bearer", reason: "for example https://h.example."),
      Refused("work", "ftp://h.example", "--bearer", reason: "The URL is invalid"),
      Refused("a/b", "h.example", "--bearer", reason: "A profile name"),
      Refused("Work", "h.example", "--bearer", reason: "must be in lower case"),
      Refused("work", "h.example", "--basic", "", reason: "must not be empty"),
      Refused("work", "h.example", "--bearer", "--from", "", reason: "--from takes"),
    ]
  }

  @Test("An invalid secret is rejected without being repeated")
  func unreadable() async throws {
    let expected: [([String], String, String)] = [
      (["--bearer", "--from", "/nowhere/t"], "", "Cannot read /nowhere/t: no such file or directory."),
      (["--bearer"], "\nt0ken\n", "Cannot read standard input: its first line is empty."),
      (["--bearer"], "se cret\n", "Cannot read the token: it contains a character that is not allowed."),
      (["--basic", "ada"], "se\u{7}cret\n", "Cannot read the password: it contains a character that is not allowed."),
      (["--basic", "ada"], "se\u{9B}cret\n", "Cannot read the password: it contains a character that is not allowed."),
    ]
    for (arguments, input, text) in expected {
      let setting = ToolRun.Setting(input: Data(input.utf8), environment: profiles.environment)
      let run = try await ToolRun.of(["login", "work", "h.example"] + arguments, setting)
      #expect(run.status == 26)
      #expect(run.error == "apus: \(text)\n")
    }
    #expect(profiles.contents == [])
  }

  @Test("Credentials are sent unencrypted to another machine only if this is allowed")
  func plainHTTP() async throws {
    let run = try await profiles.run(
      "login", "work", "http://h.example", "--bearer", "--allow-plain-http", input: "t0ken\n")
    #expect(run.text == "work: signed in to http://h.example\n")
  }
}
