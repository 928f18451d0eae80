import ApusCore
import ApusTestServer
import ApusURLSession
import Foundation
import HTTPTypes
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking

/// The gaps of `URLSession` on this platform. A test fails as soon as its gap can be closed. `CrashingResponsesTests`
/// covers the responses that crash the process.
@Suite("Gaps")
struct GapTests {
  @Test("The tests of this suite cover all known gaps, and the module's page describes each gap")
  func names() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../../Sources/ApusURLSession")
    let page = try String(contentsOf: sources.appending(path: "ApusURLSession.docc/ApusURLSession.md"), encoding: .utf8)
    for name in URLSessionTransport.knownGaps { #expect(page.contains("| \(name) | "), "\(name)") }
    #expect(
      URLSessionTransport.knownGaps == [
        "trailers", "exchange timeouts", "address policy", "new connections", "back-pressure", "phase timings", "trust",
        "content made while it is sent", "GET with content", "malformed responses", "strict framing", "strict codings",
        "interim responses", "early responses", "IPv6 addresses",
      ])
  }

  @Test("Gap back-pressure: a server can send everything although the caller does not read", .timeLimit(.minutes(5)))
  func backPressure() async throws {
    let size = 32 << 20
    try await TestServer.with { _ in
      .generated(size)
    } body: { server in
      let client = try makeClient(server)
      try await client.withResponse(to: message().contentLimit(size)) { response in
        _ = try await response.next()
        // With back-pressure the server would never become idle.
        try await server.waitUntilIdle()
      }
    }
  }

  @Test("Gap exchange timeouts: a call succeeds with timeouts of zero")
  func exchangeTimeouts() async throws {
    try await TestServer.with { _ in
      .text("hello")
    } body: { server in
      let timeouts = ExchangeTimeouts(connection: .zero, firstByte: .zero, stall: .zero)
      let response = try await makeClient(server).send(message().setting(ExchangeTimeouts.self, timeouts))
      #expect(response.data == Data("hello".utf8))
    }
  }

  @Test("Gap address policy: every call is refused and nothing is sent")
  func addressPolicy() async throws {
    try await TestServer.with { _ in
      .text("hello")
    } body: { server in
      var options = URLSessionTransport.Options()
      options.addresses = .publicOnly
      let client = try makeClient(server, transport: URLSessionTransport(options: options))
      let error = try #require(await errorOf { try await client.send(message()) } as? CallError)
      #expect(error.code == .refused && error.requestState == .notSent)
      #expect(error.underlying as? DestinationRefusal == .uncheckedAddress)
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("Gap new connections: a call that requires a new connection uses an open connection")
  func newConnections() async throws {
    try await TestServer.with { _ in
      .text("hello")
    } body: { server in
      let client = try makeClient(server)
      for _ in 0..<2 { _ = try await client.send(message().setting(NewConnectionKey.self, true)) }
      #expect(server.exchanges.map(\.connection) == [0, 0])
    }
  }

  @Test("Gap phase timings: the session never reports its metrics")
  func phaseTimings() async throws {
    try await TestServer.with { _ in
      .text("hello")
    } body: { server in
      let url = try #require(URL(string: server.origin))
      let outcome = try await RawSession.run(URLRequest(url: url))
      #expect(outcome.status == 200)
      #expect(!outcome.hasMetrics)
    }
  }

  @Test("Gap trust: pins and identities are refused before anything is sent")
  func trust() async throws {
    let hashes = [Data(repeating: 1, count: 32), Data(repeating: 2, count: 32)].map { $0.base64EncodedString() }
    var pinned = URLSessionTransport.Options()
    pinned.trust.pins = [try PinnedHost("127.0.0.1", keys: [hashes[0]], backup: [hashes[1]])]
    var identified = URLSessionTransport.Options()
    identified.trust.clientIdentity = ClientIdentity(pkcs12: Data(), passphrase: "")
    for options in [pinned, identified] {
      try await TestServer.with { _ in
        .text("")
      } body: { server in
        let client = try makeClient(server, transport: URLSessionTransport(options: options))
        let error = try #require(await errorOf { try await client.send(message()) } as? CallError)
        #expect(error.requestState == .notSent)
        #expect(server.exchanges.isEmpty)
      }
    }
  }

  @Test("Gap content made while it is sent: nothing is sent before all content is produced", .timeLimit(.minutes(5)))
  func madeWhileSent() async throws {
    try await TestServer.with(options: TestServer.Options(repliesAt: .head)) { _ in
      .text("")
    } body: { server in
      let client = try makeClient(server)
      let made = Mutex(0)
      let stream = ContentStream(isReplayable: false) {
        {
          let number = made.withLock { made in
            made += 1
            return made
          }
          // If content were sent while it is produced, the head would have arrived by now.
          #expect(server.exchanges.isEmpty)
          return number <= 3 ? Data([1]) : nil
        }
      }
      _ = try await client.send(
        Request<Content>(method: .post, path: "/", content: .stream(stream), mapping: .content))
      #expect(made.withLock { $0 } == 4)
    }
  }

  @Test("Gap GET with content: the session refuses the request, and so does the transport")
  func getWithContent() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      var request = URLRequest(url: try #require(URL(string: server.origin)))
      request.httpBody = Data("hello".utf8)
      #expect(try await RawSession.run(request).error?.code == .dataLengthExceedsMaximum)
      let client = try makeClient(server)
      let call = Request<Content>(method: .get, path: "/", content: .text("hello"), mapping: .content)
      let error = try #require(await errorOf { try await client.send(call) } as? CallError)
      #expect(error.requestState == .notSent)
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("Gap strict framing: chunk extensions of any length are accepted")
  func strictFraming() async throws {
    try await TestServer.with { _ in
      .raw(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=" + String(repeating: "x", count: 10_000)
          + "\r\nok\r\n0\r\n\r\n")
    } body: { server in
      _ = try await makeClient(server).send(message())
    }
  }

  @Test("Gap strict codings: content that ends inside its coding is accepted")
  func strictCodings() async throws {
    // The beginning of "hello hello hello hello", coded with gzip.
    let content: [UInt8] = [
      0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40,
    ]
    try await TestServer.with { _ in
      .status(200, fields: ["Content-Encoding": "gzip"], content: content)
    } body: { server in
      _ = try await makeClient(server).send(message())
    }
  }

  @Test(
    "Gap strict codings: bytes after coded content, a second member and an unknown coding are refused",
    arguments: [("gzip", "\r\n"), ("gzip", "\0"), ("gzip", nil), ("br", ""), ("x-unknown", "")])
  func strictCodingsAfterTheEnd(coding: String, trailing: String?) async throws {
    // "hello hello hello hello", coded with gzip.
    let hello: [UInt8] = [
      0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27,
      0x01, 0xE3, 0x51, 0x3D, 0x8D, 0x17, 0x00, 0x00, 0x00,
    ]
    let bytes = hello + (trailing.map { Array($0.utf8) } ?? hello)
    for isChunked in [true, false] {
      let fields: FieldLines = ["Content-Encoding": coding]
      let reply = isChunked ? Reply.chunked([bytes], fields: fields) : .status(200, fields: fields, content: bytes)
      try await TestServer.with { _ in
        reply
      } body: { server in
        let client = try makeClient(server)
        let error = try #require(await errorOf { try await client.send(message()) } as? CallError)
        // Without chunks libcurl reports a failed write.
        #expect(error.code == .malformedResponse || error.code == .connectionLost && !isChunked)
      }
    }
  }

  @Test("Gap interim responses: interim responses are not reported")
  func interimResponses() async throws {
    try await TestServer.with { _ in
      Reply.text("").interim(103)
    } body: { server in
      let told = Mutex(0)
      _ = try await makeClient(server).send(
        message().setting(InterimResponses.self) { _ in told.withLock { $0 += 1 } })
      #expect(told.withLock { $0 } == 0)
    }
  }

  @Test("Gap IPv6 addresses: the session does not recognize IPv6 addresses in URLs")
  func ipv6() async throws {
    let url = try #require(URL(string: "http://[::1]:1/"))
    #expect(try await RawSession.run(URLRequest(url: url)).error?.code == .badURL)
  }
}

/// A task of a plain session, which demonstrates the behavior of the platform alone.
final class RawSession: NSObject, URLSessionDataDelegate, Sendable {
  struct Outcome: Sendable {
    var status: Int?
    var error: URLError?
    var hasMetrics = false
  }

  private let outcome = Mutex(Outcome())
  private let done: CheckedContinuation<Outcome, Never>

  private init(_ done: CheckedContinuation<Outcome, Never>) {
    self.done = done
  }

  static func run(_ request: URLRequest) async throws -> Outcome {
    await withCheckedContinuation { done in
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = nil
      let session = URLSession(configuration: configuration, delegate: RawSession(done), delegateQueue: nil)
      session.dataTask(with: request).resume()
      session.finishTasksAndInvalidate()
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {
    outcome.withLock { $0.hasMetrics = true }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let status = (task.response as? HTTPURLResponse)?.statusCode
    done.resume(
      returning: outcome.withLock { outcome in
        (outcome.status, outcome.error) = (status, error as? URLError)
        return outcome
      })
  }
}
#endif
