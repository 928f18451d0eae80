import Apus
import ApusTesting
import HTTPTypes

@testable import ApusCore
@testable import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A client with a cache over a stub, and clocks that the test moves.
struct CachedClient {
  let stub = StubTransport()
  let clock = ManualClock(.manual)
  let cache: ResponseCache
  let api: Client

  init(
    _ storage: ResponseCache.Storage = .memory(), account: String? = nil,
    configure: (inout Configuration) -> Void = { _ in }
  ) {
    self.init(ResponseCache(storage, account: account), configure: configure)
  }

  init(_ cache: ResponseCache, configure: (inout Configuration) -> Void = { _ in }) {
    self.cache = cache
    let clock = clock
    api = Client(baseURL: "https://api.example.com/v1", transport: stub) {
      $0.cache = cache
      $0.clock = clock
      $0.retry = .none
      $0.timeout = nil
      configure(&$0)
    }
  }

  /// Returns the value of a text, and the decision of the cache.
  func get(_ request: Request<String>) async throws -> (text: String, status: String) {
    let response = try await api.response(to: request)
    return (response.value, response.cacheStatus?.description ?? "")
  }

  /// The targets of the requests that reached the server.
  var targets: [String] { stub.exchanges.map(\.target) }
  /// The values of a field of the requests that reached the server; empty if it was missing.
  func sent(_ name: String) -> [String] { stub.exchanges.map { $0.field(name) ?? "" } }
}

extension Configuration {
  /// Inserts a middleware before the cache, so that no call skips the cache.
  mutating func putCacheBehindMiddleware() {
    struct PassingOn: Middleware {
      func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
        try await next(request, context: context)
      }
    }
    customizePipeline = { $0.insert(PassingOn(), .before(.trace)) }
  }
}

extension StubReply {
  /// A text that is fresh for a time.
  static func fresh(_ text: String, seconds: Int = 60, _ fields: FieldLines = [:]) -> StubReply {
    var fields = fields
    fields["Cache-Control"] = "max-age=\(seconds)"
    return .text(text, fields: fields)
  }

  static func unchanged(_ fields: FieldLines = [:]) -> StubReply { .status(304, fields: fields) }
}
