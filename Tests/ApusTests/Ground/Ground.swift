import Apus

#if NIO
  import ApusTestServer
  import TestSupport
#endif

/// Decides what a server does with a request.
typealias DeedMaker = @Sendable (SeenRequest) async -> Deed

/// A server that tells what it has seen.
protocol SeeingServer: Sendable {
  var baseURL: BaseURL { get }
  /// What it was sent, in order.
  var requests: [SeenRequest] { get }
  /// The most exchanges that were in flight at once, as it counts.
  var mostInFlight: Int { get }

  /// A transport of its own to it.
  func transport() -> any Transport
  /// Waits until it has been sent so many requests.
  func waitForRequests(_ count: Int) async throws
  /// Waits until the client has left the first exchange with a path before its answer was complete.
  func waitUntilLeft(_ path: String) async throws
}

extension SeeingServer {
  /// A client of this server with the pipeline that apps have.
  ///
  /// Its calls and their attempts may take long: hundreds of tests at once on a small machine are no reason to fail.
  func client(_ configure: (inout Configuration) -> Void = { _ in }) -> Client {
    Client(baseURL: baseURL, transport: transport()) {
      $0.suit(.app)
      $0.timeout = .seconds(300)
      $0.attemptTimeout = nil
      configure(&$0)
    }
  }

  /// The paths of what it was sent, in order.
  var paths: [String] { requests.map(\.path) }
}

/// What a capability is shown over: the stub, and SwiftNIO's transport with a server on the loopback interface.
enum Ground: String, CaseIterable, Sendable {
  case stub
  #if NIO
    case nio
  #endif

  /// Runs `body` with a server.
  ///
  /// - Parameters:
  ///   - host: the name of the one that the stub stands for; others have other names.
  ///   - make: decides what it does with each request.
  func with<Result>(
    host: String = "one.test", _ make: @escaping DeedMaker, body: (any SeeingServer) async throws -> Result
  ) async throws -> Result {
    switch self {
    case .stub: return try await body(StubbedServer(host: host, make))
    #if NIO
      case .nio:
        return try await TestServer.with { request in
          await make(SeenRequest(request)).reply
        } body: { server in
          try await body(LoopbackSeen(server: server))
        }
    #endif
    }
  }
}
