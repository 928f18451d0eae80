#if os(Linux)
import ApusMiddleware
import ApusTestServer
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusCredentials

/// Tests that compare the product's responses to challenges with the responses of an independent client.
@Suite("Digest responses compared with curl", .enabled(if: Curl.isInstalled, "curl is not installed"))
struct CurlDigestTests {
  @Test(
    "The responses equal those of curl, for each algorithm and quality of protection that curl supports",
    arguments: ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess"], ["auth", "auth-int"])
  func equal(algorithm: String, quality: String) async throws {
    let challenge = #"Digest realm="things", nonce="n0nce", algorithm=\#(algorithm), qop="\#(quality)""#
    let shown = Log<[String: String]>()
    try await TestServer.with { request in
      guard let field = request.fields["Authorization"] else {
        return .status(401, fields: ["WWW-Authenticate": challenge])
      }
      shown.add(DigestBench.parameters(of: field))
      return .text("hello")
    } body: { server in
      try await Curl.run(["--silent", "--digest", "--user", "ada:right", server.origin + "/a?b=%20c"])
    }
    let sent = try #require(shown.all.first)
    let parsed = try #require(Challenge.all(in: [.wwwAuthenticate: challenge]).first)
    let digest = try #require(DigestChallenge(parsed, allowsMD5: true))
    #expect(sent["qop"] == quality && sent["uri"] == "/a?b=%20c")
    let protection = DigestComputation.Protection(
      count: sent["nc"] ?? "", clientNonce: sent["cnonce"] ?? "",
      quality: try #require(digest.qualities.first))
    let computation = DigestComputation(
      algorithm: digest.algorithm, realm: "things", nonce: "n0nce", protection: protection)
    let key = computation.key(user: "ada", password: "right")
    #expect(sent["response"] == computation.response(key: key, method: "GET", target: "/a?b=%20c"))
  }
}

/// The program `curl`.
private enum Curl {
  private static let path = "/usr/bin/curl"

  static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

  /// Runs the program without the user's settings, and waits until it ends.
  static func run(_ arguments: [String]) async throws {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = ["--disable", "--noproxy", "*"] + arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let (ends, ended) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in ended.finish() }
    try process.run()
    for await _ in ends {}
    #expect(process.terminationStatus == 0)
  }
}
#endif
