import ApusTestServer
import Foundation
import Testing

/// Calls with kept credentials.
@Suite("Sending with a profile", .timeLimit(.minutes(3)))
struct ProfileTests {
  private let profiles = KeptProfiles()

  @Test("a path is enough for a URL, behind a method too")
  func path() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      _ = try await profiles.logIn("work", server.origin, token: "t0ken")
      _ = try await profiles.run("send", "--profile", "work", "/users?a=b")
      _ = try await profiles.run("send", "--profile", "work", "put", "/users/7", "name=Ada")
      #expect(server.exchanges.map { "\($0.method) \($0.target)" } == ["GET /users?a=b", "PUT /users/7"])
      #expect(server.exchanges.map { $0.fields["Authorization"] } == ["Bearer t0ken", "Bearer t0ken"])
    }
  }

  @Test("another server is refused before anything is sent")
  func otherOrigin() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { other in
      _ = try await profiles.logIn("work", "https://h.example", token: "t0ken")
      let run = try await profiles.run("send", "--profile", "work", other.origin)
      #expect(run.status == 3)
      #expect(
        run.error
          == "apus: The profile “work” is for https://h.example and not for \(other.origin): nothing was sent.\n")
      let curl = try await profiles.run("send", "--curl", "--profile", "work", other.origin)
      #expect(curl.status == 3)
      #expect(curl.text == "")
      #expect(other.exchanges.isEmpty)
    }
  }

  @Test("a redirect to another server carries none")
  func redirect() async throws {
    try await TestServer.with { request in
      .text("there \(request.fields["Authorization"] ?? "without")")
    } body: { other in
      try await TestServer.with { _ in
        .text("moved", status: 307, fields: ["Location": "\(other.origin)/new"])
      } body: { server in
        _ = try await profiles.run("login", "work", server.origin, "--basic", "ada", input: "secret\n")
        let run = try await profiles.run("send", "--profile", "work", "/old")
        #expect(run.text == "there without")
        #expect(run.status == 0)
        #expect(server.exchanges.map { $0.fields["Authorization"] } == ["Basic YWRhOnNlY3JldA=="])
        #expect(other.exchanges.map(\.target) == ["/new"])
      }
    }
  }

  @Test("lines of a batch carry them, but for those that go elsewhere, which are not sent")
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
        let answers = try run.answers()
        #expect(answers[1]?.body == "hi")
        #expect(answers[2]?.code == "invalidRequest" && answers[2]?.requestState == "notSent")
        #expect(answers[2]?.error?.contains("The profile “work” is for \(server.origin)") == true)
        #expect(server.exchanges.map { $0.fields["Authorization"] } == ["Bearer t0ken"])
        #expect(other.exchanges.isEmpty)
      }
    }
  }

  @Test("one caller at a time", arguments: ["send", "batch"])
  func exclusive(command: String) async throws {
    for other in [["--bearer", "t"], ["--basic", "a:b"]] {
      let url = command == "send" ? ["https://h.example"] : []
      let setting = ToolRun.Setting(environment: profiles.environment)
      let run = try await ToolRun.of([command, "--profile", "work"] + other + url, setting)
      #expect(run.status == 64)
      #expect(run.error.contains("--bearer, --basic and --profile exclude each other."))
    }
  }

  @Test("the line for curl masks them unless they are asked for")
  func curl() async throws {
    _ = try await profiles.logIn("work", "h.example", token: "t0ken")
    let masked = try await profiles.run("send", "--curl", "--profile", "work", "/a")
    #expect(masked.text.hasPrefix("curl ") && !masked.text.contains("t0ken"))
    let shown = try await profiles.run("send", "--curl", "--show-secrets", "--profile", "work", "/a")
    #expect(shown.text.contains("Bearer t0ken") && shown.text.contains("https://h.example/a"))
  }

  @Test("one that is not there is told of, and nothing is made", arguments: ["send", "batch", "logout", "whoami"])
  func unknown(command: String) async throws {
    let option = command == "send" || command == "batch" ? ["--profile"] : []
    let url = command == "send" ? ["/a"] : []
    let setting = ToolRun.Setting(environment: profiles.environment)
    let run = try await ToolRun.of([command] + option + ["work"] + url, setting)
    #expect(run.status == 26)
    #expect(run.error == "apus: There is no profile “work” in \(profiles.path): `apus login` makes one.\n")
    #expect(profiles.contents == [])
  }

  @Test("a profile that is damaged is told of, holds up no other, and can be mended or removed")
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
        #expect(run.error.hasPrefix("apus: The profile “work” is damaged, sign in again: \(path) cannot be used, "))
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

  @Test("a profile that somebody leads elsewhere without the key sends nothing")
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
        let reason = "\(path) cannot be used, its credentials are for something else.\n"
        #expect(run.error == "apus: The profile “work” is damaged, sign in again: \(reason)")
      }
      #expect(other.exchanges.isEmpty)
    }
  }

  @Test("credentials that are gone, or whose key is, are told of before anything is sent")
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
      #expect(keyless.error.hasPrefix("apus: The credentials of the profile “work” cannot be read, since in "))
      #expect(!FileManager.default.fileExists(atPath: key))
      try bytes.write(to: URL(filePath: key))
      chmod(key, 0o600)
      for folder in profiles.credentials { try FileManager.default.removeItem(atPath: folder) }
      let signedOut = try await profiles.run("send", "--profile", "work", "/")
      #expect(signedOut.status == 3)
      #expect(signedOut.error.hasPrefix("apus: Nobody is signed in to the profile “work”: `apus login work http://"))
      let listed = try await profiles.run("whoami")
      #expect(listed.text == "work  bearer  \(server.origin)  -  signed out\n")
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("credentials that were written over are told of")
  func foreignCredentials() async throws {
    _ = try await profiles.logIn("work", "h.example", token: "t0ken")
    for folder in profiles.credentials {
      for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
        try Data("something else".utf8).write(to: URL(filePath: "\(folder)/\(file)"))
      }
    }
    let run = try await profiles.run("send", "--curl", "--profile", "work", "/")
    #expect(run.status == 26)
    let text = "apus: The credentials of the profile “work” cannot be read, since in \(profiles.path) secret "
    #expect(run.error.hasPrefix(text), "\(run.error)")
    let removed = try await profiles.run("logout", "work")
    #expect(removed.status == 0)
  }
}
