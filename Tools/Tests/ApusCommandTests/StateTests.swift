import ApusTestServer
import Foundation
import Testing

/// `--cookies` and `--cache`, run as processes.
@Suite("Cookies and stored responses", .timeLimit(.minutes(5)))
struct StateTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  /// Runs the tool with folders of its own.
  private func run(_ arguments: String..., input: [String] = []) async throws -> ToolRun {
    let setting = folder.setting {
      $0.input = Data(input.joined(separator: "\n").utf8)
      $0.environment = ["APUS_CONFIG_HOME": folder.path("config")]
    }
    return try await ToolRun.of(arguments, setting)
  }

  private func lines(_ urls: [String]) -> [String] {
    urls.enumerated().map { n, url in #"{"n":\#(n),"url":"\#(url)"}"# }
  }

  /// The field `Cookie` of each request; empty if it was missing.
  private func cookies(at server: TestServer) -> [String] {
    server.exchanges.map { $0.field("Cookie") ?? "" }
  }

  @Test("Cookies of one run are sent in the next, and those of redirects, too")
  func cookies() async throws {
    try await TestServer.with { request in
      switch request.target {
      case "/login": .status(302, fields: ["Location": "/home", "Set-Cookie": "session=s3cret; Path=/"])
      case "/more": .status(204, fields: ["Set-Cookie": "more=2; Path=/; Max-Age=600"])
      default: .text("hi")
      }
    } body: { server in
      let login = try await run("send", "\(server.origin)/login", "--cookies", "jar")
      #expect(login.status == 0 && login.text == "hi" && login.error == "")
      let batch = try await run(
        "batch", "--in-order", "--cookies", "jar", input: lines(["\(server.origin)/more", "\(server.origin)/all"]))
      #expect(batch.lines.count == 2 && !batch.lines.contains { $0.contains(#""stored""#) })
      let traced = try await run("send", "\(server.origin)/last", "--cookies", "jar", "--trace")
      #expect(traced.error.contains("cookies sent: 2") && !traced.error.contains("s3cret"))
      _ = try await run("send", "\(server.origin)/without")
      let session = "session=s3cret"
      #expect(
        cookies(at: server) == ["", session, session, "\(session); more=2", "\(session); more=2", ""])
      #expect(try folder.bytes("jar").range(of: Data("s3cret".utf8)) == nil)
      #expect(folder.names.contains("jar") && folder.names.count == 2)
    }
  }

  @Test("A file of cookies that cannot be used is reported before anything is sent")
  func unusable() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      try folder.write(Array("not a jar".utf8), to: "jar")
      #expect(chmod(folder.path("jar"), 0o600) == 0)
      for arguments in [["send", "\(server.origin)/"], ["batch"]] {
        let run = try await ToolRun.of(
          arguments + ["--cookies", "jar"],
          folder.setting { $0.environment = ["APUS_CONFIG_HOME": folder.path("config")] })
        #expect(run.status == 26 && run.error.hasPrefix("apus: Cannot read the cookies in jar: "))
      }
      #expect(try folder.text("jar") == "not a jar")
      for option in ["--cookies", "--cache"] {
        let run = try await run("send", server.origin, option, "")
        #expect(run.status == 64)
      }
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("A cookie reaches all hosts that its Domain covers, through a proxy, but never a public suffix")
  func hosts() async throws {
    try await TestServer.with { request in
      request.target.hasSuffix("/set")
        ? .status(
          302,
          fields: [
            "Location": "http://www.shop.example.org/", "Set-Cookie": "shop=1; Path=/; Domain=example.org",
            "Set-Cookie": "all=1; Path=/; Domain=org", "Set-Cookie": "own=1; Path=/",
          ]) : .text("hi")
    } body: { server in
      let run = try await run(
        "batch", "--in-order", "--proxy", server.origin, "--cookies", "jar",
        input: lines(["http://a.example.org/set", "http://b.example.org/", "http://c.other.org/"]))
      #expect(run.lines.count == 3)
      #expect(cookies(at: server) == ["", "shop=1", "shop=1", ""])
    }
  }

  @Test("Stored responses are used, and the results say so")
  func cache() async throws {
    try await TestServer.with { request in
      switch request.target {
      case "/fresh": .text("fresh", fields: ["Cache-Control": "max-age=600"])
      case "/gone": .text("gone", status: 410, fields: ["Cache-Control": "max-age=600"])
      case "/stale": .text("stale", fields: ["Cache-Control": "max-age=0, stale-while-revalidate=600"])
      case "/tag":
        request.field("If-None-Match") == nil
          ? .text("tag", fields: ["Cache-Control": "no-cache", "ETag": "\"1\""])
          : .status(304, fields: ["Cache-Control": "no-cache", "ETag": "\"1\""])
      default: .text("none", fields: ["Cache-Control": "no-store"])
      }
    } body: { server in
      let targets = ["/fresh", "/fresh", "/gone", "/gone", "/tag", "/tag", "/none", "/none", "/stale", "/stale"]
      let first = try await run(
        "batch", "--in-order", "--cache", "cache", input: lines(targets.map { server.origin + $0 }))
      let results = try first.results()
      let uses = targets.indices.map { results[$0]?.cache ?? "" }
      #expect(
        uses == ["miss", "hit", "miss", "hit", "miss", "revalidated", "miss", "miss", "miss", "stale"])
      let stored = targets.indices.map { results[$0]?.stored ?? false }
      #expect(stored == [true, false, true, false, true, true, false, false, true, false])
      #expect(targets.indices.allSatisfy { "/\(results[$0]?.body ?? "")" == targets[$0] })
      #expect(server.exchanges.count { $0.target == "/fresh" } == 1)
      // A method that the cache does not handle.
      let post = try await run(
        "batch", "--cache", "cache", input: [#"{"n":0,"method":"POST","url":"\#(server.origin)/none"}"#])
      let result = try post.results()[0]
      #expect(result?.cache == "miss" && result?.stored == false)
    }
  }

  @Test("Stored responses are used by later runs, with their own credentials only")
  func accounts() async throws {
    try await TestServer.with { request in
      .text(request.field("Authorization") ?? "", fields: ["Cache-Control": "max-age=600"])
    } body: { server in
      for (options, count) in [
        ([], 1), ([], 1), (["--basic", "ada:1"], 2), (["--basic", "ada:1"], 2), (["--basic", "grace:1"], 3),
        (["--bearer", "a"], 4), (["--bearer", "b"], 5), (["--bearer", "a"], 5), (["-H", "X-API-Key: 1"], 6),
        (["-H", "X-API-Key: 2"], 7), (["-H", "X-API-Key: 1"], 7),
      ] as [([String], Int)] {
        let run = try await ToolRun.of(
          ["send", server.origin, "--cache", "cache", "--trace"] + options, folder.setting())
        #expect(run.status == 0 && run.error.contains("cache: Apus; "), "\(options)")
        #expect(server.exchanges.count == count, "\(options)")
      }
    }
  }
}
