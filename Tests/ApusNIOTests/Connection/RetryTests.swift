import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import Testing

@Suite("Resending on stale connections")
struct RetryTests {
  /// Performs a call with this method; see ``perform(_:_:second:)``.
  private func perform(
    _ method: HTTPRequest.Method, content: RequestContent = .empty,
    _ configure: @escaping (inout NIOTransport.Options) -> Void = { _ in },
    second: Reply = .closed
  ) async throws -> (result: Result<Response<Content>, CallError>, exchanges: [String]) {
    try await perform(message(method).content(content), configure, second: second)
  }

  /// Performs a call to a server that responds to the first request on a connection, and sends the reply `second` to
  /// the second request. By default, the server closes the connection.
  private func perform(
    _ request: Request<Content>, _ configure: @escaping (inout NIOTransport.Options) -> Void = { _ in },
    second: Reply = .closed
  ) async throws -> (result: Result<Response<Content>, CallError>, exchanges: [String]) {
    try await TestServer.with { received in
      received.number == 1 ? second : .text("answer \(received.number)")
    } body: { server in
      try await NIOTransport.with(configure) { transport in
        let client = try makeClient(server.origin, transport)
        _ = try await client.send(message())
        let result: Result<Response<Content>, CallError>
        do throws(CallError) {
          result = .success(try await client.response(to: request))
        } catch {
          result = .failure(error)
        }
        return (result, server.exchanges.map { "\($0.method) on \($0.connection)" })
      }
    }
  }

  @Test(
    "An idempotent request is resent on a new connection if a reused connection closes before any byte of the response",
    arguments: ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "QUERY"])
  func repeats(method: String) async throws {
    let (result, exchanges) = try await perform(try #require(HTTPRequest.Method(method)))
    let response = try result.get()
    #expect(exchanges == ["GET on 0", "\(method) on 0", "\(method) on 1"])
    #expect(response.trace.events.contains { $0.kind == .resent })
    #expect(response.trace.reuses == [true, false])
  }

  @Test("A request whose endpoint declares it not idempotent is sent once", arguments: ["GET", "PUT"])
  func declaredUnsafe(method: String) async throws {
    let (result, exchanges) = try await perform(
      message(try #require(HTTPRequest.Method(method))).setting(IdempotenceKey.self, false))
    #expect(throws: CallError.self) { try result.get() }
    #expect(exchanges == ["GET on 0", "\(method) on 0"])
  }

  @Test(
    "A POST is resent if its endpoint declares it idempotent or it has an idempotency key",
    arguments: [0, 1, 2])
  func declaredSafe(way: Int) async throws {
    let requests = [
      message(.post).setting(IdempotenceKey.self, true), message(.post).field("Idempotency-Key", "k"),
      message(.post).field("X-Order", "k").setting(IdempotencyFieldKey.self, "X-Order"),
    ]
    let (result, exchanges) = try await perform(requests[way])
    _ = try result.get()
    #expect(exchanges == ["GET on 0", "POST on 0", "POST on 1"])
  }

  /// Opens this number of connections, waits until the server has closed them, and performs another call.
  private func performAfterClosing(
    _ count: Int, isSecure: Bool = false,
    _ configure: @escaping (inout NIOTransport.Options) -> Void = { _ in }
  ) async throws -> (result: Result<Response<Content>, CallError>, exchanges: [RecordedExchange]) {
    let authority = isSecure ? try TestAuthority.shared() : nil
    let gate = Gate()
    var options = TestServer.Options()
    options.tls = authority?.tls()
    return try await TestServer.with(options: options) { request in
      request.method == "GET" ? .text("").waiting(for: gate) : .text("")
    } body: { server in
      try await NIOTransport.with {
        configure(&$0)
        $0.eventLoops = .dedicated(1)
        if let authority { $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)] }
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let first = (0..<count).map { _ in Task { try await client.send(message()) } }
        try await gate.waitForArrivals(count)
        gate.open()
        for call in first { _ = try await call.value }
        try await server.closeConnections(of: transport)
        let result: Result<Response<Content>, CallError>
        do throws(CallError) {
          result = .success(try await client.response(to: message(.post).content(.text("x"))))
        } catch {
          result = .failure(error)
        }
        return (result, Array(server.exchanges.dropFirst(count)))
      }
    }
  }

  @Test(
    "An unwritten request moves to a new connection only once, however many idle connections were closed",
    arguments: [1, 3], [false, true])
  func unused(count: Int, isSecure: Bool) async throws {
    let (result, exchanges) = try await performAfterClosing(count, isSecure: isSecure)
    let response = try result.get()
    #expect(exchanges.map(\.method) == ["POST"])
    #expect(response.trace.events.count { $0.kind == .resent } <= 1)
    #expect(response.trace.reuses == [false])
  }

  @Test("With resending disabled, an unwritten request fails as not sent")
  func unusedSwitchedOff() async throws {
    let (result, exchanges) = try await performAfterClosing(3) { $0.retriesOnStaleConnection = false }
    switch result {
    // The client detected the close before it sent the request.
    case .success: #expect(exchanges.count == 1)
    case .failure(let error):
      #expect(error.code == .connectionLost && error.requestState == .notSent)
      #expect(exchanges.isEmpty)
    }
  }

  @Test("A request is resent after a connection reset as after a close")
  func reset() async throws {
    let (result, exchanges) = try await perform(.get, second: .reset)
    #expect(try result.get().value.string == "answer 2")
    #expect(exchanges.count == 3)
  }

  @Test("Content is resent from its start; a request with non-replayable content is not resent")
  func content() async throws {
    let bytes = [UInt8](repeating: 7, count: 300_000)
    for isReplayable in [true, false] {
      let stream = ContentStream(isReplayable: isReplayable) {
        let rest = Once(bytes)
        return { rest.take() }
      }
      let (result, exchanges) = try await perform(.put, content: .stream(stream))
      #expect(((try? result.get()) != nil) == isReplayable)
      #expect(exchanges.count == (isReplayable ? 3 : 2))
      if case .failure(let error) = result { #expect(error.requestState == .maybeSent) }
    }
  }

  @Test("A request that is not idempotent is not resent, and fails as maybe sent")
  func unsafe() async throws {
    for method in [HTTPRequest.Method.post, .patch] {
      let (result, exchanges) = try await perform(method)
      guard case .failure(let error) = result else { throw Unexpected() }
      #expect(error.code == .connectionLost)
      #expect(error.requestState == .maybeSent)
      #expect(exchanges.count == 2)
    }
  }

  @Test("With resending disabled, a written request fails as maybe sent")
  func switchedOff() async throws {
    let (result, exchanges) = try await perform(.get) { $0.retriesOnStaleConnection = false }
    guard case .failure(let error) = result else { throw Unexpected() }
    #expect(error.requestState == .maybeSent)
    #expect(!error.trace.events.contains { $0.kind == .resent })
    #expect(exchanges.count == 2)
  }

  @Test("A request is not sent a third time, and not resent after a byte of the response or from a new connection")
  func onlyOnce() async throws {
    try await TestServer.with { request in
      request.number == 0 ? .text("") : request.number < 3 ? .closed : Reply.raw("H").inserting([.close], at: .end)
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        _ = try await client.send(message())
        #expect(await failure { try await client.send(message()) }?.code == .connectionLost)
        #expect(server.exchanges.count == 3)
        #expect(await failure { try await client.send(message()) }?.code == .connectionLost)
        #expect(server.exchanges.count == 4)
      }
    }
  }

  @Test("A single byte of the response prevents resending")
  func partialAnswer() async throws {
    let (result, exchanges) = try await perform(.get, second: Reply.raw("H").inserting([.close], at: .end))
    guard case .failure(let error) = result else { throw Unexpected() }
    #expect(error.code == .connectionLost)
    #expect(error.requestState == .maybeSent)
    #expect(exchanges.count == 2)
  }
}
