import Apus
import ApusTesting
import HTTPTypes
import TestSupport

@testable import ApusCore
@testable import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The clients of an app that share one cache: two with the tokens of the account that is signed in, three with fixed
/// keys, two with cookies, and one without credentials.
struct AccountsApp {
  enum Role: CaseIterable {
    case account, sameAccount, key, otherKey, queryKey, cookies, otherCookies, open
  }

  /// A call, and the credentials that it adds to those of its client.
  struct Call: Sendable {
    enum Reading: Sendable {
      case buffered, coalesced, streamed
    }

    var role = Role.account
    var path = "fresh"
    var reading = Reading.buffered
    /// The tenant, the token and the parameter.
    var own = Caller()
    var policy: CachePolicy?
    /// The name of the gate for which the response waits.
    var gate: String?

    var request: Request<String> {
      var request = Request<String>.get("/\(path)")
      if !own.tenant.isEmpty { request = request.field("X-Tenant", own.tenant, isSensitive: true) }
      if !own.token.isEmpty { request = request.field("X-Access-Token", own.token) }
      if !own.parameter.isEmpty { request = request.query(["key": own.parameter]) }
      if let policy { request = request.cache(policy) }
      if let gate { request = request.field("X-Wait", gate) }
      if path == "silent" { request = request.cache(for: .seconds(60)) }
      return reading == .coalesced ? request.coalesced() : request.coalesced(false)
    }
  }

  /// The result of a call.
  struct Reply: Sendable {
    var caller: Caller?
    var isHit = false
    var error: CallError?
    /// Whether a stored response has brought a cookie.
    var hasStoredCookie = false
  }

  let cache: ResponseCache
  let tokens: MemoryCredentialsStore
  let jars = [CookieJar(), CookieJar()]
  private let clients: [Role: Client]

  /// Whether the cache is behind a middleware, so that no call skips it.
  struct Way {
    let clock: ManualClock
    var isBehindMiddleware = false
  }

  init(_ cache: ResponseCache, _ tokens: MemoryCredentialsStore, at server: AccountsServer, _ way: Way) {
    (self.cache, self.tokens) = (cache, tokens)
    let (transport, jars) = (server.stub(), jars)
    clients = Dictionary(
      uniqueKeysWithValues: Role.allCases.map { role in
        let client = Client(baseURL: "https://api.example.com/v1", transport: transport) {
          ($0.cache, $0.clock, $0.retry, $0.timeout) = (cache, way.clock, .none, nil)
          if way.isBehindMiddleware { $0.putCacheBehindMiddleware() }
          switch role {
          case .account, .sameAccount: $0.authentication = .bearer(tokens)
          case .key: $0.authentication = .apiKey("k1", field: "X-Api-Key")
          case .otherKey: $0.authentication = .apiKey("k2", field: "X-Api-Key")
          case .queryKey: $0.authentication = .apiKey("k3", queryParameter: "api_key")
          case .cookies: $0.cookies = jars[0]
          case .otherCookies: $0.cookies = jars[1]
          case .open: break
          }
        }
        return (role, client)
      })
  }

  func client(_ role: Role) -> Client { clients[role] ?? Client(baseURL: "https://none.example") }

  /// Performs a call.
  func perform(_ call: Call) async -> Reply {
    let client = client(call.role)
    var reply = Reply()
    do throws(CallError) {
      if call.reading == .streamed {
        let text = try await client.withResponse(to: call.request) { response in
          String(decoding: try await response.collect(), as: UTF8.self)
        }
        reply.caller = Caller(text)
      } else {
        let response = try await client.response(to: call.request)
        let status = response.cacheStatus?.description ?? ""
        reply.isHit = status.hasPrefix("Apus; hit")
        reply.hasStoredCookie = response.field("Set-Cookie") != nil && reply.isHit
        reply.caller = Caller(response.value)
      }
    } catch {
      reply.error = error
    }
    return reply
  }

  /// Sets a cookie of a session.
  func signIn(_ name: String, _ role: Role) async throws(CallError) {
    try await client(role).send(Request<Void>.post("/\(name)"))
  }
}
