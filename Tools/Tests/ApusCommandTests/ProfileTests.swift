import ApusTestServer
import Foundation
import Testing

/// Calls with stored credentials.
@Suite("Sending with a profile", .timeLimit(.minutes(3)))
struct ProfileTests {
  private let profiles = TestProfiles()

  @Test("With a profile a path suffices as the URL, also after a method")
  func path() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      _ = try await profiles.logIn("work", server.origin, token: "t0ken")
      _ = try await profiles.run("send", "--profile", "work", "/users?a=b")
      _ = try await profiles.run("send", "--profile", "work", "put", "/users/7", "name=Ada")
      #expect(server.exchanges.map { "\($0.method) \($0.target)" } == ["GET /users?a=b", "PUT /users/7"])
      #expect(server.exchanges.map { $0.field("Authorization") } == ["Bearer t0ken", "Bearer t0ken"])
    }
  }

  @Test("A request to another server is refused before it is sent")
  func otherOrigin() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { other in
      _ = try await profiles.logIn("work", "https://h.example", token: "t0ken")
      let run = try await profiles.run("send", "--profile", "work", other.origin)
      #expect(run.status == 3)
      #expect(
        run.error
          == "apus: The profile “work” is for https://h.example, not for \(other.origin). Nothing was sent.\n")
      let curl = try await profiles.run("send", "--curl", "--profile", "work", other.origin)
      #expect(curl.status == 3)
      #expect(curl.text == "")
      #expect(other.exchanges.isEmpty)
    }
  }

  @Test("A redirect to another server carries no credentials")
  func redirect() async throws {
    try await TestServer.with { request in
      .text("there \(request.field("Authorization") ?? "without")")
    } body: { other in
      try await TestServer.with { _ in
        .text("moved", status: 307, fields: ["Location": "\(other.origin)/new"])
      } body: { server in
        _ = try await profiles.run("login", "work", server.origin, "--basic", "ada", input: "secret\n")
        let run = try await profiles.run("send", "--profile", "work", "/old")
        #expect(run.text == "there without")
        #expect(run.status == 0)
        #expect(server.exchanges.map { $0.field("Authorization") } == ["Basic YWRhOnNlY3JldA=="])
        #expect(other.exchanges.map(\.target) == ["/new"])
      }
    }
  }

  @Test("Lines of a batch carry the credentials; lines for other servers are not sent")
  func batch() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { other in
      try await TestServer.with { _ in
        .text("hi")
      } body: { server in
        _ = try await profiles.logIn("work", server.origin, token: "t0ken")
        let input = #"{"n":1,"url":"\#(server.origin)/a"}"# + "\n" + #"{"n":2,"url":"\#(other.origin)/b"}"#
        let run = try await profiles.run("batch", "--profile", "work", input: input)
        #expect(run.status == 0, "\(run.error)")
        let answers = try run.results()
        #expect(answers[1]?.body == "hi")
        #expect(answers[2]?.code == "invalidRequest" && answers[2]?.requestState == "notSent")
        #expect(answers[2]?.error?.contains("The profile “work” is for \(server.origin)") == true)
        #expect(server.exchanges.map { $0.field("Authorization") } == ["Bearer t0ken"])
        #expect(other.exchanges.isEmpty)
      }
    }
  }

  @Test("A profile and other credentials are mutually exclusive", arguments: ["send", "batch"])
  func exclusive(command: String) async throws {
    for other in [["--bearer", "t"], ["--basic", "a:b"]] {
      let url = command == "send" ? ["https://h.example"] : []
      let setting = ToolRun.Setting(environment: profiles.environment)
      let run = try await ToolRun.of([command, "--profile", "work"] + other + url, setting)
      #expect(run.status == 64)
      #expect(run.error.contains("--bearer, --basic and --profile are mutually exclusive."))
    }
  }

  @Test("The curl line masks credentials unless requested")
  func curl() async throws {
    _ = try await profiles.logIn("work", "h.example", token: "t0ken")
    let masked = try await profiles.run("send", "--curl", "--profile", "work", "/a")
    #expect(masked.text.hasPrefix("curl ") && !masked.text.contains("t0ken"))
    let shown = try await profiles.run("send", "--curl", "--show-secrets", "--profile", "work", "/a")
    #expect(shown.text.contains("Bearer t0ken") && shown.text.contains("https://h.example/a"))
  }

  @Test("An unknown profile is an error, and no files are created", arguments: ["send", "batch", "logout", "whoami"])
  func unknown(command: String) async throws {
    let option = command == "send" || command == "batch" ? ["--profile"] : []
    let url = command == "send" ? ["/a"] : []
    let setting = ToolRun.Setting(environment: profiles.environment)
    let run = try await ToolRun.of([command] + option + ["work"] + url, setting)
    #expect(run.status == 26)
    #expect(run.error == "apus: There is no profile “work” in \(profiles.path). Create one with `apus login`.\n")
    #expect(profiles.contents == [])
  }

  @Test("A damaged profile is reported, does not affect other profiles, and can be replaced or removed")
  func damaged() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      _ = try await profiles.logIn("work", server.origin, token: "t0ken")
      _ = try await profiles.logIn("other", server.origin, token: "other")
      let path = "\(profiles.path)/profiles/work.json"
      for content in ["", "{}", #"{"origin":"https://h.example"}"#] {
        try Data(content.utf8).write(to: URL(filePath: path))
        let run = try await profiles.run("send", "--profile", "work", "\(server.origin)/a")
        #expect(run.status == 26)
        #expect(run.error.hasPrefix("apus: The profile “work” is damaged: in \(path), "))
      }
      #expect(server.exchanges.isEmpty)
      let mended = try await profiles.logIn("work", server.origin, token: "new")
      #expect(mended.status == 0, "\(mended.error)")
      try Data("{".utf8).write(to: URL(filePath: path))
      let removed = try await profiles.run("logout", "work")
      #expect(removed.text == "work: signed out\n")
      let run = try await profiles.run("send", "--profile", "other", "/")
      #expect(run.status == 0)
      #expect(profiles.credentials.count == 1)
    }
  }

  @Test("A profile that was redirected to another server without the key sends no request")
  func ledElsewhere() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { other in
      _ = try await profiles.run("login", "work", "h.example", "--basic", "ada", input: "secret\n")
      let path = "\(profiles.path)/profiles/work.json"
      let kept = try String(contentsOfFile: path, encoding: .utf8)
      for (old, new) in [("https://h.example", other.origin), (#""ada""#, #""eve""#), ("basic", "digest")] {
        let changed = kept.replacingOccurrences(of: old, with: new)
        #expect(changed != kept)
        try Data(changed.utf8).write(to: URL(filePath: path))
        let run = try await profiles.run("send", "--profile", "work", "/")
        #expect(run.status == 26)
        let reason = "in \(path), its credentials belong to something else. Sign in again.\n"
        #expect(run.error == "apus: The profile “work” is damaged: \(reason)")
      }
      #expect(other.exchanges.isEmpty)
    }
  }

  @Test("Missing credentials and keys are reported before a request is sent")
  func withoutCredentials() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { server in
      _ = try await profiles.logIn("work", server.origin, token: "t0ken")
      let key = "\(profiles.path)/key"
      let bytes = try Data(contentsOf: URL(filePath: key))
      try FileManager.default.removeItem(atPath: key)
      let keyless = try await profiles.run("send", "--profile", "work", "/")
      #expect(keyless.status == 26)
      #expect(keyless.error.hasPrefix("apus: The credentials of the profile “work” cannot be read: in "))
      #expect(!FileManager.default.fileExists(atPath: key))
      try bytes.write(to: URL(filePath: key))
      chmod(key, 0o600)
      for folder in profiles.credentials { try FileManager.default.removeItem(atPath: folder) }
      let signedOut = try await profiles.run("send", "--profile", "work", "/")
      #expect(signedOut.status == 3)
      #expect(
        signedOut.error.hasPrefix("apus: The profile “work” is signed out. Sign in with `apus login work http://"))
      let listed = try await profiles.run("whoami")
      #expect(listed.text == "work  bearer  \(server.origin)  -  signed out\n")
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("Overwritten credentials are reported")
  func foreignCredentials() async throws {
    _ = try await profiles.logIn("work", "h.example", token: "t0ken")
    for folder in profiles.credentials {
      for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
        try Data("something else".utf8).write(to: URL(filePath: "\(folder)/\(file)"))
      }
    }
    let run = try await profiles.run("send", "--curl", "--profile", "work", "/")
    #expect(run.status == 26)
    let text = "apus: The credentials of the profile “work” cannot be read: in \(profiles.path), secret "
    #expect(run.error.hasPrefix(text), "\(run.error)")
    let removed = try await profiles.run("logout", "work")
    #expect(removed.status == 0)
  }
}
