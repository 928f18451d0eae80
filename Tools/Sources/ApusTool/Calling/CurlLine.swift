import Apus
import ApusNIO

/// A call as a curl command line, including the connection's options.
struct CurlLine: Sendable {
  let message: RequestMessage
  let plan: SendPlan
  let connection: ConnectionPlan
  let showsSecrets: Bool

  var text: String {
    var (message, options) = (message, options)
    if case .multipart(let parts) = plan.request.content {
      // curl chooses the boundary itself.
      message.content = .empty
      message.head.headerFields[.contentType] = nil
      options += parts.flatMap { $0.curlWords(isShown: showsSecrets) }
    }
    return message.curl(redaction: showsSecrets ? nil : Redaction(), options: options)
  }

  private var options: [String] {
    // As in the transport: content is not decoded if the request itself states the accepted codings.
    var words = (message.head.headerFields[.acceptEncoding] == nil ? ["--compressed"] : []) + digestWords
    if let choice = connection.protocolChoice { words.append("--\(choice.rawValue)") }
    if connection.followsRedirects { words += ["--location", "--max-redirs", "10"] }
    if connection.followsRedirects, plan.request.url.origin.scheme == "https" { words += ["--proto-redir", "=https"] }
    if let timeout = connection.timeout { words += ["--max-time", Self.seconds(timeout)] }
    for path in connection.authorities { words += ["--cacert", path] }
    if let identity = connection.identity {
      words += ["--cert", Self.certificate(identity.certificate), "--key", identity.key]
    }
    if !connection.pins.isEmpty {
      words += ["--pinnedpubkey", connection.pins.map { "sha256//\($0.key)" }.joined(separator: ";")]
    }
    if case .server(let proxy) = connection.proxy { words += proxyWords(proxy) }
    if plan.includesHead { words.append("--include") }
    if let output = plan.output { words += ["--output", output] }
    return words
  }

  /// The options for digest authentication, whose response curl computes from the server's challenge.
  private var digestWords: [String] {
    guard case .profile(let signedIn)? = connection.credentials, case .digest = signedIn.profile.account,
      case .credential(.password(let user, let password)) = signedIn.credentials
    else { return [] }
    return ["--digest", "--user", showsSecrets ? "\(user):\(password.value)" : Redaction.mask]
  }

  private func proxyWords(_ proxy: NIOTransport.Proxy) -> [String] {
    let words = ["--proxy", "http://\(proxy)"]
    guard let credentials = proxy.credentials else { return words }
    return words + ["--proxy-user", showsSecrets ? "\(credentials.user):\(credentials.password)" : Redaction.mask]
  }

  private static func seconds(_ duration: Duration) -> String {
    let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
  }

  /// Escapes the path of a certificate: curl interprets text after a colon as a password.
  private static func certificate(_ path: String) -> String {
    var bytes: [UInt8] = []
    for byte in path.utf8 {
      if byte == UInt8(ascii: ":") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
