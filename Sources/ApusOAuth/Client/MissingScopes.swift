public import ApusCore
public import ApusMiddleware
import HTTPTypes
import Synchronization

/// The scopes that a call needs but its tokens do not have. Sign in again with these scopes in addition.
///
/// `MissingScopes` is the `CallError.underlying` error of a call that was not sent for this reason.
public struct MissingScopes: LoggableError, Hashable {
  /// The missing scopes; empty if the server has not stated them.
  public let scopes: [String]
  /// The origin of the server.
  public let origin: Origin?

  /// The reason, without the scopes, because they may come from a server.
  public var description: String { "the tokens do not have all scopes that the call needs" }
}

enum RequiredScopes: ContextKey {
  static let defaultValue: [String] = []
}

extension Endpoint {
  /// Declares the scopes that calls of this endpoint need, for a ``ScopeMiddleware``. Default: none.
  public func scopes(_ scopes: String...) -> Request<Value> {
    setting(RequiredScopes.self, scopes)
  }
}

/// A middleware that reports scopes which the signed-in user has not granted. It reports the scopes that an endpoint
/// needs (`Endpoint.scopes(_:)`) before the call is sent, and the scopes that a server requires (403 with
/// `insufficient_scope`, RFC 6750 §3.1). Neither causes a refresh.
///
/// ```swift
/// var configuration = Configuration(baseURL: "https://api.example.com/v1")
/// configuration.customizePipeline = { pipeline in
///   pipeline.insert(ScopeMiddleware(store) { print("sign in again with \($0.scopes)") }, .before(.retry))
/// }
/// ```
public final class ScopeMiddleware: Middleware {
  private struct Report: Hashable {
    let generation: UInt64
    let scopes: MissingScopes
  }

  /// The maximum number of stored reports. Beyond it, reports may repeat.
  private static let limit = 64

  private let store: any CredentialsStore
  private let onMissing: @Sendable (MissingScopes) -> Void
  private let reports = Mutex<Set<Report>>([])

  /// Creates the middleware.
  ///
  /// - Parameters:
  ///   - store: the store of the tokens of a ``OAuthGrant``.
  ///   - onMissing: called before the calls throw their errors, and only once for the same scopes until new tokens are
  ///     stored. The closure must return quickly.
  public init(_ store: any CredentialsStore, onMissing: @escaping @Sendable (MissingScopes) -> Void) {
    (self.store, self.onMissing) = (store, onMissing)
  }

  /// Passes a call on if its scopes are granted or unknown.
  ///
  /// - Throws: `TransportError` with the code `refused` and ``MissingScopes`` if a scope is not granted.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    let needed = context.values[RequiredScopes.self]
    if !needed.isEmpty, let stored = try? await store.current(), case .tokens(let tokens)? = stored.credential,
      let granted = tokens.scopes
    {
      let missing = needed.filter { !granted.contains($0) }
      if !missing.isEmpty {
        let scopes = MissingScopes(scopes: missing, origin: request.origin)
        report(scopes, stored.generation)
        throw TransportError(
          .refused, requestState: .notSent, detail: scopes.description, underlying: scopes)
      }
    }
    let response = try await next(request, context: context)
    guard response.statusCode == 403 else { return response }
    let challenge = Challenge.all(in: response.head.headerFields).first { $0["error"] == "insufficient_scope" }
    if let challenge, let stored = try? await store.current() {
      report(
        MissingScopes(scopes: Tokens.scopes(in: challenge["scope"] ?? ""), origin: request.origin), stored.generation)
    }
    return response
  }

  private func report(_ scopes: MissingScopes, _ generation: UInt64) {
    let isNew = reports.withLock { reports in
      if reports.count >= Self.limit { reports.removeAll() }
      return reports.insert(Report(generation: generation, scopes: scopes)).inserted
    }
    if isNew { onMissing(scopes) }
  }
}
