import ApusCore
import ApusCredentials
import ApusMiddleware
import ApusTesting
import Crypto
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server that verifies SHA-256 digests independently of the tested code, and proves that it knows the password.
final class DigestServer: Sendable {
  /// The properties of the server's responses.
  struct Behavior: Sendable {
    var quality = "auth, auth-int"
    var algorithm = "SHA-256"
    /// The content of a response.
    var content = "hello"
    /// Changes the parameters of `Authentication-Info`; `nil` omits the field.
    var info: @Sendable ([String: String]) -> [String: String]? = { $0 }
    /// The content that the proof covers, if it differs from the response's content.
    var proven: String?
    var status = 200
  }

  private struct State {
    var nonce = 1
    var isRotating = false
  }

  let stub = StubTransport()
  let behavior: Mutex<Behavior>
  private let state = Mutex(State())

  init(_ behavior: Behavior = Behavior()) {
    self.behavior = Mutex(behavior)
    let reply: StubTransport.Handler = { [self] in answer(to: $0) }
    stub.on(where: { _, _ in true }, reply: reply)
  }

  /// Makes the server state a new nonce with each response, and accept only the latest nonce.
  func rotate() {
    state.withLock { $0.isRotating = true }
  }

  /// The parameters of each message's `Authorization`.
  var shown: [[String: String]] { stub.exchanges.map { DigestBench.parameters(of: $0.fields[.authorization]) } }

  func client(_ authentication: Authentication? = nil) -> Client {
    let source = MemoryCredentialsStore(.password(user: "ada", "right"))
    var environment = Environment(baseURL: "https://api.example.com")
    environment.authentication = authentication ?? .digest(source)
    var pipeline = Pipeline()
    pipeline.insert(AuthenticationMiddleware(), .after(.authentication))
    return Client(environment: environment, pipeline: pipeline, transport: stub)
  }

  static func digest(requiresProof: Bool) -> Authentication {
    .digest(MemoryCredentialsStore(.password(user: "ada", "right")), requiresProof: requiresProof)
  }

  private static func hash(_ text: String) -> String {
    SHA256.hash(data: Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func answer(to exchange: StubExchange) -> StubReply {
    let behavior = behavior.withLock { $0 }
    let shown = DigestBench.parameters(of: exchange.fields[.authorization])
    let (nonce, next) = state.withLock { state in
      if state.isRotating { state.nonce += 1 }
      return ("nonce-\(state.nonce - (state.isRotating ? 1 : 0))", state.isRotating ? "nonce-\(state.nonce)" : nil)
    }
    guard shown["nonce"] == nonce, isRight(shown, exchange, behavior) else {
      let asks =
        #"Digest realm="things", nonce="\#(next ?? nonce)", algorithm=\#(behavior.algorithm), qop="\#(behavior.quality)""#
      return .status(401, fields: [.wwwAuthenticate: asks])
    }
    var info = ["qop": shown["qop"] ?? "", "nc": shown["nc"] ?? "", "cnonce": shown["cnonce"] ?? ""]
    info["rspauth"] = response(shown, "", exchange.target, behavior.proven ?? behavior.content, behavior)
    info["nextnonce"] = next
    var fields = HTTPFields()
    if let info = behavior.info(info) {
      fields[.authenticationInfo] = info.sorted { $0.key < $1.key }.map { "\($0.key)=\"\($0.value)\"" }.joined(
        separator: ", ")
    }
    return .text(behavior.content, status: behavior.status, fields: fields)
  }

  private func isRight(_ shown: [String: String], _ exchange: StubExchange, _ behavior: Behavior) -> Bool {
    let method = exchange.request.head.method.rawValue
    return shown["response"] == response(shown, method, exchange.target, exchange.text, behavior)
  }

  private func response(
    _ shown: [String: String], _ method: String, _ target: String, _ content: String, _ behavior: Behavior
  ) -> String {
    var key = Self.hash("ada:things:right")
    // The session began with the first nonce.
    if behavior.algorithm.hasSuffix("sess") { key = Self.hash("\(key):nonce-1:\(shown["cnonce"] ?? "")") }
    var message = "\(method):\(target)"
    let quality = shown["qop"] ?? ""
    if quality == "auth-int" { message += ":" + Self.hash(content) }
    let parts = ["nonce", "nc", "cnonce"].map { shown[$0] ?? "" }
    return Self.hash(([key] + parts + [quality, Self.hash(message)]).joined(separator: ":"))
  }
}
