import ApusCore
import HTTPTypes

/// The rules that choose a proxy for an origin. Created once per transport, so that all connections to an origin use
/// the same route.
struct ProxyRules: Sendable {
  /// The route to the origins of one scheme.
  enum Route: Sendable {
    case direct
    case proxy(ProxyServer)
    /// The environment variable of this name is not the URL of a proxy.
    case unusable(variable: String)
  }

  private let http: Route
  private let https: Route
  private let exceptions: [ProxyException]

  /// - Parameter exceptions: the hosts that are reached directly, as entries of `no_proxy`.
  init(http: Route, https: Route, exceptions: [String]) {
    (self.http, self.https) = (http, https)
    self.exceptions = exceptions.map { ProxyException($0) }
  }

  /// Returns the proxy for an origin; `nil` if the origin is reached directly.
  ///
  /// - Throws: `TransportError` if the configured proxy cannot be used.
  func proxy(to origin: Origin) throws(TransportError) -> ProxyServer? {
    let route = origin.scheme == "https" ? https : http
    if case .direct = route { return nil }
    if exceptions.contains(where: { $0.covers(origin) }) { return nil }
    switch route {
    case .direct: return nil
    case .proxy(let proxy): return proxy
    case .unusable(let variable):
      throw TransportError(
        .invalidRequest, requestState: .notSent, detail: "the variable \(variable) is not the URL of an HTTP proxy")
    }
  }
}

/// A proxy server: its address and the credentials for it.
struct ProxyServer: Sendable, Hashable, CustomStringConvertible {
  /// The name or address, IPv6 in brackets.
  let host: String
  let port: Int
  /// The value of `Proxy-Authorization` (RFC 7617 §2); `nil` without credentials.
  let authorization: String?

  /// The fields that a request to the proxy needs in addition.
  var fields: HTTPFields {
    guard let authorization else { return [:] }
    var field = HTTPField(name: .proxyAuthorization, value: authorization)
    field.indexingStrategy = .disallow
    return HTTPFields([field])
  }

  /// The host and the port.
  var description: String { "\(host):\(port)" }
}

/// Hosts that are reached without a proxy: one entry of `no_proxy`, compared byte by byte.
struct ProxyException: Sendable {
  private typealias Text = ArraySlice<UInt8>

  private enum Pattern {
    case all
    /// A name and its subdomains.
    case name([UInt8])
    /// The addresses that share a prefix of this many bits.
    case addresses(prefix: [UInt8], bits: Int)
    case nothing
  }

  private var pattern: Pattern
  private var port: Int?

  init(_ entry: String) {
    let entry = Self.lowercased(entry)[...]
    let (host, port) = Self.split(entry)
    self.port = port
    if entry.elementsEqual("*".utf8) {
      pattern = .all
    } else if let slash = host.firstIndex(of: UInt8(ascii: "/")) {
      let bits = Self.number(host[(slash + 1)...])
      let prefix = Self.address(host[..<slash])
      guard let prefix, let bits, (0...prefix.count * 8).contains(bits) else {
        pattern = .nothing
        return
      }
      pattern = .addresses(prefix: prefix, bits: bits)
    } else if let address = Self.address(host) {
      pattern = .addresses(prefix: address, bits: address.count * 8)
    } else {
      let name = Self.name(host.starts(with: "*.".utf8) ? host.dropFirst(2) : host)
      pattern = name.isEmpty ? .nothing : .name(Array(name))
    }
  }

  /// Whether the entry matches an origin.
  func covers(_ origin: Origin) -> Bool {
    if let port, port != origin.port { return false }
    switch pattern {
    case .all: return true
    case .nothing: return false
    case .name(let name):
      let host = Self.name(Self.lowercased(origin.host)[...])
      guard host.count > name.count else { return host.elementsEqual(name) }
      return host.suffix(name.count).elementsEqual(name) && host.dropLast(name.count).last == UInt8(ascii: ".")
    case .addresses(let prefix, let bits):
      guard let address = Self.address(Array(origin.host.utf8)[...]), address.count == prefix.count else {
        return false
      }
      return (0..<bits).allSatisfy { bit in
        let (difference, mask): (UInt8, UInt8) = (address[bit / 8] ^ prefix[bit / 8], 0x80 >> UInt8(bit % 8))
        return difference & mask == 0
      }
    }
  }

  /// Returns a name without a leading or trailing dot.
  private static func name(_ text: Text) -> Text {
    let rooted = text.last == UInt8(ascii: ".") ? text.dropLast() : text
    return rooted.first == UInt8(ascii: ".") ? rooted.dropFirst() : rooted
  }

  /// Splits an entry into host and port. The colons inside an IPv6 address do not begin a port.
  private static func split(_ entry: Text) -> (host: Text, port: Int?) {
    guard let colon = entry.lastIndex(of: UInt8(ascii: ":")), let port = number(entry[(colon + 1)...]) else {
      return (entry, nil)
    }
    let host = entry[..<colon]
    let isAddress = host.contains(UInt8(ascii: ":")) && host.last != UInt8(ascii: "]")
    return isAddress ? (entry, nil) : (host, port)
  }

  private static func number(_ digits: Text) -> Int? {
    guard digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
    return Int(String(decoding: digits, as: UTF8.self))
  }

  /// Returns the bytes of an address; the four IPv4 bytes for an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2).
  private static func address(_ text: Text) -> [UInt8]? {
    guard let bytes = AddressBytes.of(String(decoding: text, as: UTF8.self)) else { return nil }
    return bytes.starts(with: mappedPrefix) ? Array(bytes.dropFirst(12)) : bytes
  }

  private static func lowercased(_ text: String) -> [UInt8] {
    text.utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
  }

  private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
}
