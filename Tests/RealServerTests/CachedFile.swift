#if os(Linux)
import Apus
import ApusNIO
import ApusTesting
import Foundation
import LoopbackConformance
import Testing

@testable import ApusMiddleware

/// The server that a client with a cache uses, the protocol, and the transport.
enum CacheOrigin: Sendable {
  case nginx
  case nginxHTTP2
  case nginxOverURLSession
  /// varnish in front of nginx.
  case varnish
  case varnishHTTP2

  static let nginxes: [CacheOrigin] = [.nginx, .nginxHTTP2, .nginxOverURLSession]
  static let varnishes: [CacheOrigin] = [.varnish, .varnishHTTP2]

  var httpVersion: HTTPVersion { self == .nginxHTTP2 || self == .varnishHTTP2 ? .http2 : .http1 }

  fileprivate var wire: Wire { self == .nginxOverURLSession ? .urlSession : .nio }

  /// The server with the files and the log.
  fileprivate var nginx: RealServer {
    get async throws { try await self == .nginxHTTP2 ? RealServer.nginxHTTP2.value : RealServer.nginx.value }
  }

  fileprivate var url: String {
    get async throws {
      switch self {
      case .nginx, .nginxOverURLSession: try await RealServer.nginx.value.url()
      case .nginxHTTP2: try await RealServer.nginxHTTP2.value.secureURL()
      case .varnish, .varnishHTTP2: try await RealServer.varnish.value.url()
      }
    }
  }
}

/// A file at an origin, with a unique name, and a client with a cache and a clock that the test moves.
///
/// The folder of its path says what responses say about caching: see `scripts/servers/nginx-cached.conf`.
struct CachedFile: Sendable {
  /// A client with a cache.
  let api: Client
  /// A client without a cache.
  let other: Client
  private let clock: ManualClock
  private let nginx: RealServer
  private let name = UUID().uuidString

  /// Runs `body` with a file that contains `text`.
  static func with(
    _ text: String, at origin: CacheOrigin, heuristicFreshness: Bool = false,
    body: (CachedFile) async throws -> Void
  ) async throws {
    let (nginx, url) = (try await origin.nginx, try await origin.url)
    let authority = try nginx.file("ca.pem")
    try await withTransport(origin.wire) {
      $0.trust.additionalTrustRoots = [authority]
      $0.protocols = [origin.httpVersion]
    } body: { transport in
      let clock = ManualClock(.manual)
      // The wall clock stands still, so that the second in which a response arrives does not matter.
      let start = Date()
      let cache = ResponseCache(.memory(), account: nil, CacheRules(heuristicFreshness: heuristicFreshness)) { start }
      var configuration = Configuration(baseURL: try BaseURL(url))
      (configuration.timeout, configuration.attemptTimeout, configuration.retry) = (nil, nil, .none)
      let other = Client(configuration: configuration, transport: transport)
      (configuration.cache, configuration.clock) = (cache, clock)
      let api = Client(configuration: configuration, transport: transport)
      let file = CachedFile(api: api, other: other, clock: clock, nginx: nginx)
      try await file.write(text)
      try await body(file)
      try await file.requireIdle()
    }
  }

  /// Advances the clock of the client with the cache.
  func advance(seconds: Int) {
    clock.advance(by: .seconds(seconds))
  }

  func request(_ method: HTTPRequest.Method = .get, in folder: String) -> Request<Content> {
    message(method, "/cached/\(folder)/\(name)")
  }

  /// Calls the file through the cache.
  func get(
    _ folder: String, _ change: (Request<Content>) -> Request<Content> = { $0 }
  ) async throws -> Response<Content> {
    try await api.response(to: change(request(in: folder)))
  }

  /// Writes the file as another client does, of which the cache learns nothing.
  ///
  /// - Parameter text: the content, whose length must differ from the previous one: nginx makes an entity tag from the
  ///   length and the second of the change.
  func write(_ text: String) async throws {
    let response = try await other.response(to: message(.put, "/cached/\(name)").content(.bytes(Data(text.utf8))))
    #expect([201, 204].contains(response.status))
  }

  /// Sets the time at which the file was modified.
  func setModificationDate(_ date: Date) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: date], ofItemAtPath: nginx.folder.appending(path: "cached/\(name)").path)
  }

  /// Expects that nginx got exactly these requests for the file in this folder, for example `GET 304`.
  func expectRequests(
    _ expected: [String], in folder: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    var found = try requests(in: folder)
    let limit = ContinuousClock.now + .seconds(30)
    // nginx writes a line after it has sent the response.
    while found.count < expected.count, ContinuousClock.now < limit {
      await Task.yield()
      found = try requests(in: folder)
    }
    #expect(found == expected, sourceLocation: sourceLocation)
  }

  private func requests(in folder: String) throws -> [String] {
    let path = "/cached/\(folder)/\(name) "
    return String(decoding: try nginx.file("logs/cached.log"), as: UTF8.self).split(separator: "\n")
      .filter { $0.hasPrefix(path) }.map { String($0.dropFirst(path.count)) }
  }

  /// Waits until no call is in flight: a response is validated in the background by a call of its own.
  func requireIdle() async throws {
    try await requireSoon("calls are left in the registry") { [api] in api.calls.isEmpty }
  }
}

extension Response {
  /// The decision of the cache as text.
  var decision: String { cacheStatus?.description ?? "none" }
}
#endif
