import Apus
import ApusNIO

/// A call as a command line of curl, the options of the connection included.
struct CurlLine: Sendable {
  let message: RequestMessage
  let plan: SendPlan
  let connection: ConnectionPlan
  let showsSecrets: Bool

  var text: String {
    var words = [message.curl(redaction: showsSecrets ? nil : Redaction()), "--compressed"]
    words += digestWords
    if connection.followsRedirects { words += ["--location", "--max-redirs", "10"] }
    if connection.followsRedirects, plan.url.origin.scheme == "https" {
      words += ["--proto-redir", Self.quoted("=https")]
    }
    if let timeout = connection.timeout { words += ["--max-time", Self.seconds(timeout)] }
    for path in connection.authorities { words += ["--cacert", Self.quoted(path)] }
    if let identity = connection.identity {
      words += ["--cert", Self.quoted(identity.certificate), "--key", Self.quoted(identity.key)]
    }
    if !connection.pins.isEmpty {
      let pins = connection.pins.map { "sha256//\($0.key)" }.joined(separator: ";")
      words += ["--pinnedpubkey", Self.quoted(pins)]
    }
    if case .server(let proxy) = connection.proxy { words += proxyWords(proxy) }
    if plan.includesHead { words.append("--include") }
    if let output = plan.output { words += ["--output", Self.quoted(output)] }
    return words.joined(separator: " ")
  }

  /// What curl makes the proof of a password of, once the server has said what it wants proven.
  private var digestWords: [String] {
    guard case .profile(let signedIn)? = connection.credentials, case .digest = signedIn.profile.account,
      case .password(let user, let password) = signedIn.credential
    else { return [] }
    return ["--digest", "--user", Self.quoted(showsSecrets ? "\(user):\(password.value)" : Redaction.mask)]
  }

  private func proxyWords(_ proxy: NIOTransport.Proxy) -> [String] {
    let words = ["--proxy", Self.quoted("http://\(proxy)")]
    guard let credentials = proxy.credentials else { return words }
    let secret = showsSecrets ? "\(credentials.user):\(credentials.password)" : Redaction.mask
    return words + ["--proxy-user", Self.quoted(secret)]
  }

  private static func seconds(_ duration: Duration) -> String {
    let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
  }

  /// One word for a shell.
  private static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-._~/:".utf8.contains(byte)
      }
    return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
