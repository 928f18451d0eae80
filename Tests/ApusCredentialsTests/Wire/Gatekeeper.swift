import Apus
import ApusNIO
import ApusTestServer
import Synchronization

/// The origin of a server that starts later.
final class Address: Sendable {
  private let origin = Mutex("")

  var value: String {
    get { origin.withLock { $0 } }
    set { origin.withLock { $0 = newValue } }
  }
}

/// A server that knows the credentials of an authenticator. It sends a challenge if credentials are missing and the
/// scheme needs one, and redirects authenticated requests with their query to another server.
struct Gatekeeper: Sendable {
  let authenticator: Authenticator
  let other = Address()

  func reply(to request: RecordedRequest) -> Reply {
    if authenticator.needsChallenge, request.fields["Authorization"] == nil {
      return .status(401, fields: ["WWW-Authenticate": authenticator.challenge])
    }
    switch request.path {
    case "/learn", "/end": return .text("here")
    case "/unprotected": return .status(307, fields: ["Location": "http://\(request.fields["Host"] ?? "")/end"])
    default: return .status(307, fields: ["Location": other.value + request.target])
    }
  }
}

extension TestServer {
  /// Returns a client of this server with a separate transport, whose connections close when the client is released.
  func client(configure: (inout Configuration) -> Void = { _ in }) -> Client {
    Client(baseURL: BaseURL(stringLiteral: origin), transport: NIOTransport()) {
      $0.timeout = .seconds(300)
      $0.attemptTimeout = nil
      configure(&$0)
    }
  }
}

extension RecordedExchange {
  /// The text of the whole request.
  var seen: String {
    let fields = request.fields.lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    return "\(request.method) \(request.target)\n\(fields)\n\(request.text)"
  }

  /// The secrets in the request.
  var shown: Set<Planted> { Planted.leaks(in: seen) }

  /// Whether the request contains no secret and no field with credentials.
  var isAnonymous: Bool {
    shown.isEmpty && ["Authorization", "X-Who", "X-Proof"].allSatisfy { request.fields[$0] == nil }
  }

  /// The parameters of the request's digest credentials; empty if it has none.
  var proof: [String: String] { digestParameters(request.fields["Authorization"]) }
}

/// A transport that sends https requests over plain connections, so that the client treats a server without TLS as
/// secure.
struct Unsecured: Transport {
  let transport: NIOTransport

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    var request = request
    request.head.scheme = "http"
    return try await transport.send(request, context: context)
  }
}

/// A middleware that sends requests for `/elsewhere` to another server.
struct SendElsewhere: Middleware {
  let authority: String

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    if request.target.hasPrefix("/elsewhere") { request.head.authority = authority }
    return try await next(request, context: context)
  }
}
