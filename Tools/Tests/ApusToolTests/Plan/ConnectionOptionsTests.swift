import Apus
import ApusNIO
import ApusURLSession
import ArgumentParser
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Connection options")
struct ConnectionOptionsTests {
  private static let hash = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

  private func plan(_ arguments: String...) throws -> ConnectionPlan {
    try ConnectionOptions.parse(arguments).plan()
  }

  @Test("Omitted options keep the transport's defaults")
  func defaults() throws {
    let options = try plan().nioOptions(host: "h", limitsEachWait: true)
    let defaults = NIOTransport.Options()
    #expect(options.proxy == .none)
    #expect(options.retriesOnStaleConnection)
    #expect(options.maximumConnectionsPerOrigin == defaults.maximumConnectionsPerOrigin)
    #expect(options.firstByteTimeout == defaults.firstByteTimeout)
    #expect(options.trust.pins.isEmpty && options.trust.additionalTrustRoots.isEmpty)
    #expect(options.userAgent == "apus/\(ToolVersion.current)")
    #expect(try plan().followsRedirects)
  }

  @Test("A timeout of the whole call replaces those of the phases")
  func timeout() throws {
    let plan = try plan("--timeout", "2.5")
    #expect(plan.timeout == .milliseconds(2500))
    let options = try plan.nioOptions(host: nil, limitsEachWait: false)
    #expect(options.firstByteTimeout == nil && options.stallTimeout == nil)
  }

  @Test("--no-retry and --no-follow turn features off")
  func switches() throws {
    let plan = try plan("--no-retry", "--no-follow")
    #expect(try !plan.nioOptions(host: nil, limitsEachWait: true).retriesOnStaleConnection)
    #expect(try !plan.urlSessionOptions(host: nil).reusesConnections)
    #expect(!plan.followsRedirects)
  }

  @Test("--retry requires a number of retries and excludes --no-retry")
  func furtherAttempts() throws {
    #expect(try plan().furtherAttempts == 0)
    #expect(try plan("--retry", "2").furtherAttempts == 2)
    #expect(throws: PlanError.self) { try plan("--retry=-1") }
    #expect(throws: PlanError.self) { try plan("--retry", "101") }
    #expect(throws: PlanError.self) { try plan("--retry", "1", "--no-retry") }
  }

  @Test("The number of connections stays below the limit of open files, and is at least one")
  func openFiles() throws {
    var plan = try plan()
    plan.connections = 2048
    for (files, perOrigin, all) in [(Int.max, 2048, 8192), (1064, 1000, 1000), (10, 1, 1)] {
      plan.openFiles = files
      let options = try plan.nioOptions(host: nil, limitsEachWait: false)
      #expect(options.maximumConnectionsPerOrigin == perOrigin)
      #expect(options.maximumConnections == all)
    }
    #expect(try plan.urlSessionOptions(host: nil).maximumConnectionsPerHost == 1)
    #expect(OpenFiles.raiseLimit() > 0)
  }

  @Test("A proxy is specified by a URL or by the environment")
  func proxy() throws {
    let options = try plan("--proxy", "http://u:p@p.example:3128").nioOptions(host: nil, limitsEachWait: true)
    #expect(
      options.proxy == .proxy(.init(host: "p.example", port: 3128, credentials: .init(user: "u", password: "p"))))
    let environment = try plan("--proxy", "environment").nioOptions(host: nil, limitsEachWait: true)
    #expect(environment.proxy == .environment)
    #expect(throws: PlanError.self) { try plan("--proxy", "socks5://p") }
  }

  @Test("The version of HTTP is that of one flag, or the transport's default")
  func protocols() throws {
    func protocols(_ arguments: String...) throws -> [HTTPVersion] {
      try ConnectionOptions.parse(arguments).plan().nioOptions(host: nil, limitsEachWait: true).protocols
    }
    #expect(try protocols() == NIOTransport.Options().protocols)
    #expect(try protocols("--http1.1") == [.http1])
    #expect(try protocols("--http2") == [.http2, .http1])
    #expect(try protocols("--http2-prior-knowledge") == [.http2])
    #expect(throws: PlanError.self) { try plan("--http2", "--http1.1") }
    #expect(throws: PlanError.self) { try plan("--http2", "--http2-prior-knowledge") }
  }

  @Test("A pin applies to its host or the URL's host, with a random backup key")
  func pins() throws {
    let plan = try plan("--pin", Self.hash, "--pin", "Other.example=sha256//" + Self.hash)
    let pins = try plan.nioOptions(host: "h.example", limitsEachWait: true).trust.pins
    #expect(pins.map(\.host) == ["h.example", "other.example"])
    let key = try #require(Data(base64Encoded: Self.hash))
    #expect(pins.allSatisfy { $0.keys.contains(key) && $0.keys.count == 2 })
    #expect(throws: PlanError.self) { try plan.nioOptions(host: nil, limitsEachWait: true) }
    #expect(throws: PlanError.self) {
      try self.plan("--pin", "short").nioOptions(host: "h", limitsEachWait: true)
    }
  }

  @Test("Options that URLSession does not support are rejected, not ignored")
  func urlSession() throws {
    #expect(throws: PlanError.self) { try plan("--ca", "x").urlSessionOptions(host: nil) }
    #expect(throws: PlanError.self) { try plan("--proxy", "http://p:1").urlSessionOptions(host: nil) }
    #expect(throws: PlanError.self) { try plan("--http2").urlSessionOptions(host: nil) }
    #expect(try plan("--pin", Self.hash).urlSessionOptions(host: "h").trust.pins.count == 1)
  }

  @Test("Credentials are of one kind, and may be in a file")
  func credentials() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID())")
    try Data("t0ken\n".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(try plan("--bearer", "-x").credentials == .bearer("-x"))
    #expect(try plan("--bearer", "@\(file.path)").credentials == .bearer("t0ken"))
    #expect(try plan("--basic", "ada:a:b").credentials == .basic(user: "ada", "a:b"))
    #expect(throws: PlanError.self) { try plan("--basic", "ada") }
    #expect(throws: PlanError.self) { try plan("--basic", "a:b", "--bearer", "c") }
    #expect(throws: PlanError.self) { try plan("--basic", "a:b", "--profile", "c") }
    #expect(throws: PlanError.self) { try plan("--bearer", "a", "--profile", "c") }
    #expect(try plan("--profile", "c").credentials == nil)
    #expect(throws: InputError.self) { try plan("--bearer", "@\(file.path).missing") }
  }

  @Test("An invalid profile name is rejected before the lookup")
  func profileName() async throws {
    await #expect(throws: PlanError.self) {
      try await ConnectionOptions.parse(["--profile", "../c"]).planWithProfile()
    }
  }

  @Test("The key and the certificate may be in one file")
  func identity() throws {
    #expect(try plan("--cert", "c").identity ?? ("", "") == ("c", "c"))
    #expect(try plan("--cert", "c", "--key", "k").identity ?? ("", "") == ("c", "k"))
    #expect(throws: PlanError.self) { try plan("--key", "k") }
    #expect(throws: InputError.self) {
      try plan("--cert", "/nowhere/c").nioOptions(host: nil, limitsEachWait: true)
    }
  }

  @Test("Invalid timeouts are rejected", arguments: ["0", "-1", "nan", "inf", "1e300"])
  func noTimeout(text: String) throws {
    #expect(throws: PlanError.self) { try plan("--timeout=\(text)") }
  }
}
