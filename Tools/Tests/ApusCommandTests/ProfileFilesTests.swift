import ApusTestServer
import Foundation
import Testing

/// The files of `apus login` and `apus logout`.
@Suite("Files of profiles", .timeLimit(.minutes(3)))
struct ProfileFilesTests {
  private let profiles = TestProfiles()

  @Test("Files and folders are private, whatever the umask")
  func modes() async throws {
    let setting = ToolRun.Setting(
      input: Data("secret\n".utf8), environment: profiles.environment, preparation: "umask 0")
    let run = try await ToolRun.of(["login", "work", "h.example", "--basic", "ada"], setting)
    #expect(run.status == 0, "\(run.error)")
    #expect(profiles.contents.contains("profiles/work.json") && profiles.contents.contains("key"))
    for entry in profiles.contents + ["."] {
      let (mode, isFolder) = profiles.mode(of: entry)
      #expect(mode == (isFolder ? 0o700 : 0o600), "\(entry) has \(String(mode, radix: 8))")
    }
  }

  @Test(
    "A folder that other users can access is rejected and left unchanged", arguments: [0o755, 0o770, 0o701] as [mode_t])
  func openFolder(mode: mode_t) async throws {
    try FileManager.default.createDirectory(atPath: profiles.path, withIntermediateDirectories: true)
    chmod(profiles.path, mode)
    let refused = try await profiles.logIn("work", "h.example", token: "t0ken")
    #expect(refused.status == 23)
    #expect(refused.error.contains("`chmod 700 \(profiles.path)`"), "\(refused.error)")
    #expect(profiles.mode(of: ".").mode == mode)
    #expect(profiles.contents == [])
    chmod(profiles.path, 0o700)
    let login = try await profiles.logIn("work", "h.example", token: "t0ken")
    #expect(login.status == 0, "\(login.error)")
  }

  @Test("Previous credentials that cannot be removed are reported, and the login succeeds")
  func unremovable() async throws {
    _ = try await profiles.logIn("work", "h.example", token: "one")
    let old = try #require(profiles.credentials.first)
    try FileManager.default.createDirectory(atPath: "\(old)/obstacle", withIntermediateDirectories: true)
    let login = try await profiles.logIn("work", "h.example", token: "two")
    #expect(login.status == 0)
    #expect(login.text == "work: signed in to https://h.example\n")
    #expect(login.error.hasPrefix("apus: The previous credentials of “work” were not removed. Cannot write to \(old)/"))
    let run = try await profiles.run("send", "--curl", "--show-secrets", "--profile", "work", "/")
    #expect(run.text.contains("Bearer two"))
  }

  @Test("No file and no output contains a secret, plain or encoded")
  func secrets() async throws {
    let secret = "correct-horse-battery-staple"
    let runs = [
      try await profiles.run("login", "work", "h.example", "--basic", "ada", input: "\(secret)\n"),
      try await profiles.logIn("token", "h.example", token: secret),
      try await profiles.run("whoami"), try await profiles.run("whoami", "--json"),
      try await profiles.run("send", "--curl", "--profile", "work", "/a"),
      try await profiles.run("send", "--curl", "--profile", "token", "/a"),
      try await profiles.run("send", "--profile", "work", "other.example"),
    ]
    let encoded = Data("ada:\(secret)".utf8).base64EncodedString()
    for text in [secret, Data(secret.utf8).base64EncodedString(), encoded, String(secret.reversed())] {
      #expect(profiles.files(with: text) == [])
      #expect(runs.allSatisfy { !$0.text.contains(text) && !$0.error.contains(text) })
    }
    #expect(profiles.files(with: "https://h.example") == ["profiles/token.json", "profiles/work.json"])
  }

  @Test("Of two concurrent logins, one is stored completely")
  func atOnce() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      for _ in 0..<3 {
        async let first = profiles.logIn("work", server.origin, token: "one")
        async let second = profiles.logIn("work", server.origin, token: "two")
        let (one, two) = try await (first, second)
        #expect(one.status == 0 && two.status == 0, "\(one.error)\(two.error)")
        let run = try await profiles.run("send", "--profile", "work", server.origin)
        #expect(run.status == 0, "\(run.error)")
        #expect(profiles.credentials.count == 1)
      }
      let shown = Set(server.exchanges.map { $0.field("Authorization") })
      #expect(shown.isSubset(of: ["Bearer one", "Bearer two"]))
    }
  }

  @Test("A new login replaces server, user and secret")
  func replaced() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      _ = try await profiles.run("login", "work", "old.example", "--basic", "ada", input: "secret\n")
      let run = try await profiles.logIn("work", server.origin, token: "t0ken")
      #expect(run.status == 0)
      _ = try await profiles.run("send", "--profile", "work", "/")
      #expect(server.exchanges.map { $0.field("Authorization") } == ["Bearer t0ken"])
      #expect(profiles.credentials.count == 1)
      #expect(profiles.files(with: "old.example") == [])
    }
  }

  @Test("Leftovers of an interrupted login have no effect and are removed by the next login")
  func leftOver() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      _ = try await profiles.logIn("work", server.origin, token: "one")
      let folder = "\(profiles.path)/credentials/work.0123456789abcdef"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data("half".utf8).write(to: URL(filePath: "\(folder)/credentials"))
      try Data("half".utf8).write(to: URL(filePath: "\(profiles.path)/profiles/work.json.part"))
      let run = try await profiles.run("send", "--profile", "work", "/")
      #expect(run.status == 0)
      let login = try await profiles.logIn("work", server.origin, token: "two")
      #expect(login.status == 0, "\(login.error)")
      _ = try await profiles.run("send", "--profile", "work", "/")
      #expect(server.exchanges.map { $0.field("Authorization") } == ["Bearer one", "Bearer two"])
      #expect(profiles.credentials.count == 1)
      #expect(profiles.contents.allSatisfy { !$0.hasSuffix(".part") })
    }
  }

  @Test("Profiles are stored in the folder that the environment specifies, otherwise in the home folder")
  func places() async throws {
    let place = profiles.path
    let expected: [([String: String], String)] = [
      (["APUS_CONFIG_HOME": "", "XDG_CONFIG_HOME": "\(place)/shared/"], "\(place)/shared/apus"),
      (["APUS_CONFIG_HOME": "", "XDG_CONFIG_HOME": "", "HOME": "\(place)/home"], "\(place)/home/.config/apus"),
    ]
    for (environment, folder) in expected {
      let setting = ToolRun.Setting(input: Data("t\n".utf8), environment: environment)
      let run = try await ToolRun.of(["login", "work", "h.example", "--bearer"], setting)
      #expect(run.status == 0, "\(run.error)")
      #expect(FileManager.default.fileExists(atPath: "\(folder)/profiles/work.json"))
    }
    let nowhere = ["APUS_CONFIG_HOME": "", "XDG_CONFIG_HOME": "relative", "HOME": ""]
    let run = try await ToolRun.of(["whoami"], .init(environment: nowhere))
    #expect(run.status == 26)
    #expect(run.error == "apus: Profiles have no folder: HOME is not set.\n")
  }

  @Test("An unwritable folder is reported")
  func unwritable() async throws {
    try Data().write(to: URL(filePath: profiles.path))
    let run = try await profiles.logIn("work", "h.example", token: "t0ken")
    #expect(run.status == 23)
    #expect(run.error == "apus: Cannot write to \(profiles.path): not a directory.\n")
  }
}
