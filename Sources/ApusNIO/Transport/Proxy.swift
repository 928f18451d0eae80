public import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension NIOTransport {
  /// An HTTP proxy (RFC 9110 §3.7). The proxy forwards plain `http` messages, and tunnels `https` with CONNECT
  /// (§9.3.6).
  ///
  /// A proxy that does not open the tunnel fails the call with the code `connectionFailed`; nothing was sent, and
  /// the error's detail has the proxy's status. For a plain `http` message the proxy's response is returned as the
  /// response, even a 407.
  public struct Proxy: Sendable, Hashable, SelfRedacting {
    /// The name or address, IPv6 in brackets.
    public var host: String
    /// The port.
    public var port: Int
    /// The user name and password for the proxy, sent only to the proxy (RFC 7617). Default: none.
    public var credentials: Credentials?
    /// The hosts that are reached without the proxy, as in the variable `no_proxy`: names (with their subdomains),
    /// addresses, and address ranges such as `10.0.0.0/8`, each optionally with a port; `*` for all hosts. Default:
    /// none.
    public var bypassedHosts: [String] = []

    /// A user name and a password.
    public struct Credentials: Sendable, Hashable, SelfRedacting {
      /// The user name, without colons (RFC 7617 §2) and control characters. ``Options/validate()`` refuses other
      /// names.
      public var user: String
      /// The password.
      public var password: String

      /// Creates credentials.
      public init(user: String, password: String) {
        self.user = user
        self.password = password
      }

      /// The name of the type, without the user name and the password.
      public var description: String { "Credentials" }
    }

    /// Creates a proxy.
    public init(host: String, port: Int, credentials: Credentials? = nil) {
      self.host = host
      self.port = port
      self.credentials = credentials
    }

    /// The host and the port.
    public var description: String { "\(host):\(port)" }
  }

  /// The choice of a transport's proxy.
  public enum ProxyMode: Sendable, Hashable {
    /// No proxy; the environment variables are ignored.
    case none
    /// This proxy.
    case proxy(Proxy)
    /// The proxies in the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, read when the
    /// transport is created. The names may be upper case, except `HTTP_PROXY`, because web servers set `HTTP_PROXY`
    /// from a client's field.
    ///
    /// If the variable for a message is not the URL of a usable proxy, the message is refused, not sent without a
    /// proxy.
    case environment
  }
}

// MARK: - Parsing and validation

extension NIOTransport.Proxy {
  /// Parses `http://user:password@host:port`. Scheme, credentials and port may be missing; user and password are
  /// percent-decoded. Returns `nil` for anything else, other schemes included.
  ///
  /// The URL is visible ASCII without backslashes, as RFC 3986 requires: host names in other alphabets are written in
  /// their ASCII form, other characters of user and password percent-encoded. The first literal colon separates user
  /// and password; a user name that contains a colon after decoding is refused (RFC 7617 §2).
  public init?(url: String) {
    // Parsed as bytes: a combining mark after a delimiter would merge with it into one Character and hide it.
    var rest = Array(url.utf8)[...]
    guard rest.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else { return nil }
    if let mark = rest.firstRange(of: "://".utf8) {
      guard rest[..<mark.lowerBound].elementsEqual("http".utf8, by: { $0 | 0x20 == $1 }) else { return nil }
      rest = rest[mark.upperBound...]
    }
    if let end = rest.firstIndex(where: { "/?#".utf8.contains($0) }) {
      guard rest[end...].elementsEqual("/".utf8) else { return nil }
      rest = rest[..<end]
    }
    var credentials: Credentials?
    if let mark = rest.lastIndex(of: UInt8(ascii: "@")) {
      credentials = Credentials(userInformation: rest[..<mark])
      guard credentials != nil else { return nil }
      rest = rest[(mark + 1)...]
    }
    guard let origin = Origin(scheme: "http", authority: String(decoding: rest, as: UTF8.self)) else { return nil }
    self.init(host: origin.host, port: origin.port, credentials: credentials)
    guard fault == nil else { return nil }
  }

  /// The fault of the proxy, as a clause; `nil` if the proxy is valid.
  var fault: String? {
    if !Self.isHost(host) { return "needs a host: a name or an address alone, without scheme and port" }
    if !(1...65535).contains(port) { return "needs a port from 1 to 65535" }
    guard let credentials else { return nil }
    if credentials.user.utf8.contains(UInt8(ascii: ":")) { return "the user name contains a colon" }
    let isClean = [credentials.user, credentials.password].allSatisfy { text in
      text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
    return isClean ? nil : "user and password must not contain control characters"
  }

  /// Whether the text is a name of letters, digits, hyphens, underscores and dots, or an IPv6 address in brackets.
  private static func isHost(_ host: String) -> Bool {
    if host.utf8.first == UInt8(ascii: "[") { return AddressBytes.of(host) != nil }
    return !host.isEmpty
      && host.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}

extension NIOTransport.Proxy.Credentials {
  /// Splits before decoding, because an encoded colon belongs to the user or the password.
  fileprivate init?(userInformation: ArraySlice<UInt8>) {
    let colon = userInformation.firstIndex(of: UInt8(ascii: ":")) ?? userInformation.endIndex
    guard let user = Self.decoded(userInformation[..<colon]),
      let password = Self.decoded(userInformation[colon...].dropFirst())
    else { return nil }
    self.init(user: user, password: password)
  }

  /// Decodes percent escapes; `nil` if an escape is malformed or the bytes are not UTF-8.
  private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap({ hexValue($0) }), let low = rest.popFirst().flatMap({ hexValue($0) })
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"):
      (byte | 0x20) - UInt8(ascii: "a") + 10
    default: nil
    }
  }

}

// MARK: - Rules

extension ProxyRules {
  /// - Parameter environment: returns the environment variables; called only for
  ///   ``NIOTransport/ProxyMode/environment``.
  init(_ mode: NIOTransport.ProxyMode, environment: () -> [String: String]) {
    switch mode {
    case .none: self.init(http: .direct, https: .direct, exceptions: [])
    case .proxy(let proxy):
      let server = ProxyServer(proxy)
      self.init(http: .proxy(server), https: .proxy(server), exceptions: proxy.bypassedHosts)
    case .environment:
      let variables = environment()
      let list = variables["no_proxy"] ?? variables["NO_PROXY"] ?? ""
      self.init(
        http: Self.route(of: ["http_proxy", "all_proxy", "ALL_PROXY"], in: variables),
        https: Self.route(of: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"], in: variables),
        exceptions: list.utf8.split { $0 == UInt8(ascii: ",") || $0 <= 0x20 }.map { String(Substring($0)) })
    }
  }

  private static func route(of names: [String], in variables: [String: String]) -> Route {
    guard let name = names.first(where: { variables[$0]?.isEmpty == false }), let url = variables[name] else {
      return .direct
    }
    return NIOTransport.Proxy(url: url).map { .proxy(ProxyServer($0)) } ?? .unusable(variable: name)
  }
}

extension ProxyServer {
  fileprivate init(_ proxy: NIOTransport.Proxy) {
    let authorization = proxy.credentials.map { credentials in
      "Basic " + Data("\(credentials.user):\(credentials.password)".utf8).base64EncodedString()
    }
    self.init(host: proxy.host, port: proxy.port, authorization: authorization)
  }
}
