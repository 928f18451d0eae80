import Apus
import ApusNIO
import ApusTestServer
import Synchronization

/// The values that a server needs from one that starts later.
final class Address: Sendable {
  private let origin = Mutex("")

  var value: String {
    get { origin.withLock { $0 } }
    set { origin.withLock { $0 = newValue } }
  }
}

/// A server that knows the credentials of an authenticator: it asks for them where they are not shown unasked, and
/// sends whoever shows them on to another server, with all that it was told in the query.
struct Gatekeeper: Sendable {
  let authenticator: Authenticator
  let other = Address()

  func reply(to request: RecordedRequest) -> Reply {
    if authenticator.isAsked, request.fields["Authorization"] == nil {
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
  /// A client of this server, over a transport of its own, which closes its connections when nobody holds it any
  /// more.
  func client(configure: (inout Configuration) -> Void = { _ in }) -> Client {
    Client(baseURL: BaseURL(stringLiteral: origin), transport: NIOTransport()) {
      $0.timeout = .seconds(300)
      $0.attemptTimeout = nil
      configure(&$0)
    }
  }
}

extension RecordedExchange {
  /// Everything that the server saw of the request.
  var seen: String {
    let fields = request.fields.lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    return "\(request.method) \(request.target)\n\(fields)\n\(request.text)"
  }

  /// The credentials that it carries.
  var shown: Set<Planted> { Planted.leaks(in: seen) }

  /// Whether it shows nothing at all, nor anything that was computed.
  var isAnonymous: Bool {
    shown.isEmpty && ["Authorization", "X-Who", "X-Proof"].allSatisfy { request.fields[$0] == nil }
  }

  /// The parameters of its `Authorization`, where that is a digest.
  var proof: [String: String] { digestParameters(request.fields["Authorization"]) }
}

/// Takes plain connections for secure ones: what stands above believes that servers speak TLS that do not.
struct Unsecured: Transport {
  let transport: NIOTransport

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    var request = request
    request.head.scheme = "http"
    return try await transport.send(request, context: context)
  }
}

/// Sends what is for `/elsewhere` to another server, as a middleware of an app's own might.
struct SendElsewhere: Middleware {
  let authority: String

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    if request.target.hasPrefix("/elsewhere") { request.head.authority = authority }
    return try await next(request, context: context)
  }
}
