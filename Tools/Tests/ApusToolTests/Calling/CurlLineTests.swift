import Apus
import ArgumentParser
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Calls as curl command lines")
struct CurlLineTests {
  private func line(_ arguments: String..., showsSecrets: Bool = false) async throws -> String {
    try await line(arguments, showsSecrets: showsSecrets)
  }

  private func line(_ arguments: [String], showsSecrets: Bool = false) async throws -> String {
    let command = try SendCommand.parse(arguments)
    let (plan, connection) = (try command.plan(), try command.connection.plan())
    let client = try Clients(transport: AnsweringTransport(), plan: connection).client(for: plan.request.url)
    let message = try await client.message(for: try plan.endpoint(connection))
    return CurlLine(message: message, plan: plan, connection: connection, showsSecrets: showsSecrets).text
  }

  @Test("Secrets are masked unless requested")
  func secrets() async throws {
    let masked = try await line(
      "http://h/a?key=s1", "--bearer", "s2", "--proxy", "http://u:s3@p:81", "x=s4", "X-Key:s5")
    for secret in ["s1", "s2", "s3", "s4", "s5"] { #expect(!masked.contains(secret)) }
    let shown = try await line(
      "http://h/a?key=s1", "--bearer", "s2", "--proxy", "http://u:s3@p:81", "x=s4", "X-Key:s5", showsSecrets: true)
    for secret in ["key=s1", "Bearer s2", "u:s3", "s4", "s5"] { #expect(shown.contains(secret)) }
  }

  @Test("Connection options become curl options")
  func options() async throws {
    let line = try await line(
      "http://h/", "--timeout", "2.5", "--ca", "a b", "--cert", "c:d\\e", "--key", "k", "--pin", "HASH", "-o", "it's",
      "-i")
    #expect(
      line.hasSuffix(
        "--max-time 2.5 --cacert 'a b' --cert 'c\\:d\\\\e' --key k --pinnedpubkey 'sha256//HASH' --include --output 'it'\\''s'"
      ))
    #expect(line.hasPrefix("curl --request GET 'http://h/'"))
    #expect(line.contains(" --location --max-redirs 10 --max-time"))
    #expect(line.contains(" --globoff "))
    for option in ["--http1.1", "--http2", "--http2-prior-knowledge"] {
      #expect(try await self.line("http://h/", option).contains(" \(option) "))
    }
  }

  @Test("Content is decoded as in the tool, unless the request states the accepted codings")
  func codings() async throws {
    let file = try await line("http://h/", "-o", "f")
    #expect(file.contains("identity") && !file.contains("--compressed"))
    #expect(try await !line("http://h/", "Accept-Encoding:gzip").contains("--compressed"))
    for arguments in [[], ["-o", "f", "--compressed"], ["-o", "-"]] {
      let decoded = try await line(["http://h/"] + arguments)
      #expect(decoded.contains(" --compressed") && !decoded.contains("identity"))
    }
  }

  @Test("Redirects are limited as in the tool, and never lead from https to http")
  func redirects() async throws {
    let line = try await line("https://h/")
    #expect(line.contains(" --location --max-redirs 10 --proto-redir '=https'"))
    let kept = try await self.line("https://h/", "--no-follow")
    #expect(!kept.contains("redir") && !kept.contains("location"))
  }

  @Test("Multipart content is converted to curl's options, masked unless requested")
  func multipart() async throws {
    let masked = try await line("http://h/", "--multipart", "a=s1", "--multipart", "b=@/dev/null;filename=x")
    #expect(!masked.contains("s1") && !masked.contains("boundary") && !masked.contains("--data"))
    let shown = try await line(
      "http://h/", "--multipart", "a=s1", "--multipart", "b=@/dev/null;filename=x", showsSecrets: true)
    #expect(shown.hasPrefix("curl --request POST 'http://h/'"))
    #expect(shown.hasSuffix(" --form-string 'a=s1' --form 'b=@/dev/null;filename=x'"))
  }

  @Test(
    "An argument cannot escape its quotes",
    arguments: ["'\u{301};echo injected;'\u{301}", "'\u{20DD}$(id)"])
  func quoting(text: String) async throws {
    let line = try await line("http://h/", "-o", text, "--ca", text)
    let quoted =
      "'" + String(decoding: text.utf8.flatMap { $0 == 0x27 ? Array("'\\''".utf8) : [$0] }, as: UTF8.self) + "'"
    #expect(Array(line.utf8).suffix(quoted.utf8.count).elementsEqual(quoted.utf8))
  }
}
