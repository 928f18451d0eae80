import Apus
import ApusTestServer
import HTTP2Gateway
import LoopbackConformance
import TestSupport

/// A closure that returns a server's reply to a request.
typealias ReplyMaker = @Sendable (ReceivedRequest) async -> ScriptedReply

/// A server that records its requests.
protocol RecordingServer: Sendable {
  var baseURL: BaseURL { get }
  /// The requests, in order of arrival.
  var requests: [ReceivedRequest] { get }
  /// The highest number of exchanges in flight, as counted by the server.
  var mostInFlight: Int { get }

  /// Returns a new transport to the server.
  func transport() -> any Transport
  /// Waits for a number of requests.
  func waitForRequests(_ count: Int) async throws
  /// Waits until the client closes the first exchange with a path before its response is complete.
  func waitUntilLeft(_ path: String) async throws
}

extension RecordingServer {
  /// Returns a client of this server with an app's pipeline.
  ///
  /// Timeouts are long, because hundreds of tests run concurrently on a small machine.
  func client(_ configure: (inout Configuration) -> Void = { _ in }) -> Client {
    Client(baseURL: baseURL, transport: transport()) {
      $0.apply(.app)
      $0.timeout = .seconds(300)
      $0.attemptTimeout = nil
      configure(&$0)
    }
  }

  /// The paths of the requests, in order of arrival.
  var paths: [String] { requests.map(\.path) }
}

/// The backends of capability tests: the stub, and the SwiftNIO transport with a loopback server, over HTTP/1.1 and
/// HTTP/2.
enum TestBackend: String, CaseIterable, Sendable {
  case stub
  case nio
  case nioHTTP2

  /// Runs `body` with a server.
  ///
  /// - Parameters:
  ///   - host: the host name of the server that the stub replaces.
  ///   - make: returns the server's reply to each request.
  func with<Result>(
    host: String = "one.test", _ make: @escaping ReplyMaker, body: (any RecordingServer) async throws -> Result
  ) async throws -> Result {
    switch self {
    case .stub: return try await body(StubbedServer(host: host, make))
    case .nio, .nioHTTP2:
      return try await TestServer.with { request in
        await make(ReceivedRequest(request)).reply
      } body: { server in
        try await withGateway(self == .nioHTTP2 ? HTTP2Gateway.start : nil, to: server) { gateway in
          try await body(LoopbackRecorder(server: server, gateway: gateway))
        }
      }
    }
  }
}
