import Apus
import ApusTesting
import HTTPTypes
import Synchronization

/// The credentials with which a request reached a server. The server responds with their text.
struct Caller: Sendable, Hashable {
  /// The account and its session, such as `ann-3`.
  var account = ""
  /// The fixed key of the client, in a field or in the query.
  var key = ""
  /// The value of a field that is marked as sensitive.
  var tenant = ""
  /// The value of a field that is not marked, and whose name reveals a secret.
  var token = ""
  /// The value of a query parameter.
  var parameter = ""
  /// The session of the cookies.
  var cookie = ""

  private static let parts: [any WritableKeyPath<Caller, String> & Sendable] = [
    \.account, \.key, \.tenant, \.token, \.parameter, \.cookie,
  ]

  /// Whether every part is a part of one of the callers.
  func isMade(of callers: [Caller], comparingAccounts equal: (String, String) -> Bool) -> Bool {
    Self.parts.allSatisfy { part in
      callers.contains { caller in
        let (own, other) = (self[keyPath: part], caller[keyPath: part])
        return part == \.account ? equal(own, other) : own == other
      }
    }
  }
}

extension Caller {
  /// The credentials of a request.
  init(_ exchange: StubExchange) {
    // The part after the dot changes when the tokens of a session are replaced.
    account = String((exchange.field("Authorization") ?? "").dropFirst("Bearer ".count).prefix { $0 != "." })
    tenant = exchange.field("X-Tenant") ?? ""
    token = exchange.field("X-Access-Token") ?? ""
    for item in exchange.target.split(separator: "?").dropFirst().joined().split(separator: "&") {
      if item.hasPrefix("key=") { parameter = String(item.dropFirst(4)) }
      if item.hasPrefix("api_key=") { key = String(item.dropFirst(8)) }
    }
    key = exchange.field("X-Api-Key") ?? key
    let cookies = (exchange.field("Cookie") ?? "").split(separator: "; ")
    cookie = String(cookies.first { $0.hasPrefix("sid=") }?.dropFirst(4) ?? "")
  }

  /// The text of a response.
  var text: String { Self.parts.map { self[keyPath: $0] }.joined(separator: "|") }

  /// Reads the text of a response.
  init?(_ text: String) {
    let values = text.split(separator: "|", omittingEmptySubsequences: false)
    guard values.count == Self.parts.count else { return nil }
    for (part, value) in zip(Self.parts, values) { self[keyPath: part] = String(value) }
  }
}

/// A server that responds with the credentials of the request. All responses of a path have the same validator,
/// whoever asks, so that a validation with the response of another account would be confirmed.
final class AccountsServer: Sendable {
  private let gates = Mutex<[String: Gate]>([:])
  private let received = Atomic(0)
  private let hidesCallers = Atomic(false)

  /// The paths of responses, each with its fields: fresh for a minute, silent about caches, stale while revalidating,
  /// validated before each use, and with a cookie.
  static let fields: [String: FieldLines] = [
    "fresh": ["Cache-Control": "max-age=60"],
    "silent": [:],
    "short": ["Cache-Control": "max-age=2, stale-while-revalidate=600, stale-if-error=600", "ETag": "\"1\""],
    "validated": ["Cache-Control": "max-age=0", "ETag": "\"1\""],
    "cookie": ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Set-Cookie": "visited=1; Path=/"],
    "varying": ["Cache-Control": "max-age=60", "Vary": "Authorization, Cookie, X-Tenant", "ETag": "\"1\""],
  ]
  static let paths = fields.keys.sorted()

  /// The number of requests that have arrived, of all stubs.
  var count: Int { received.load(ordering: .relaxed) }

  /// Responds with the same text to all callers from now on.
  func hideCallers() {
    hidesCallers.store(true, ordering: .relaxed)
  }

  /// The gate for which requests with a value of `X-Wait` wait.
  func gate(_ name: String) -> Gate {
    gates.withLock { gates in
      let gate = gates[name] ?? Gate()
      gates[name] = gate
      return gate
    }
  }

  /// Returns a new transport to the server.
  func stub() -> StubTransport {
    let stub = StubTransport()
    stub.on(where: { _, _ in true }, reply: { try await self.reply(to: $0) })
    return stub
  }

  private func reply(to exchange: StubExchange) async throws -> StubReply {
    received.add(1, ordering: .relaxed)
    let caller = Caller(exchange)
    if let name = exchange.field("X-Wait") { try await gate(name).wait() }
    let path = exchange.target.split(separator: "?")[0].split(separator: "/").dropFirst().joined(separator: "/")
    guard exchange.method == .get else {
      return .status(204, fields: ["Set-Cookie": .init(stringLiteral: "sid=\(path); Path=/")])
    }
    let fields = Self.fields[path] ?? [:]
    if exchange.field("If-None-Match")?.contains("\"1\"") == true { return .status(304, fields: fields) }
    return .text(hidesCallers.load(ordering: .relaxed) ? Caller().text : caller.text, fields: fields)
  }
}
