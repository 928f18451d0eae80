import Apus
import ApusNIO
import ApusURLSession

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The connection settings and credentials of the commands that send requests.
struct ConnectionPlan: Sendable {
  /// A transport.
  enum Transport: String, Sendable, CaseIterable {
    case nio, urlsession
  }

  /// The choice of a proxy.
  enum ProxyPlan: Sendable, Hashable {
    case none
    case environment
    case server(NIOTransport.Proxy)
  }

  /// A choice of the versions of HTTP. The raw values are the names of the flags, which are those of curl.
  enum ProtocolChoice: String, Sendable, CaseIterable {
    case http1 = "http1.1"
    case http2
    case priorKnowledge = "http2-prior-knowledge"

    /// The versions, the preferred one first.
    var versions: [HTTPVersion] {
      switch self {
      case .http1: [.http1]
      case .http2: [.http2, .http1]
      case .priorKnowledge: [.http2]
      }
    }
  }

  var transport = Transport.nio
  /// The versions of HTTP; `nil` for the transport's default.
  var protocolChoice: ProtocolChoice?
  /// The timeout of a whole call; `nil` for the command's default.
  var timeout: Duration?
  var followsRedirects = true
  /// The paths of files with trusted authorities.
  var authorities: [String] = []
  /// The paths of the client's certificate and key.
  var identity: (certificate: String, key: String)?
  var pins: [Pin] = []
  var proxy = ProxyPlan.none
  var retries = true
  /// The maximum number of retries after temporary failures.
  var furtherAttempts = 0
  var credentials: CredentialPlan?
  /// The signatures of requests; `nil` for none.
  var signing: AWSPlan?
  /// The jar of cookies; `nil` for none.
  var cookies: CookieJar?
  /// The folder of stored responses; `nil` for none.
  var cache: CachePlan?
  /// The maximum number of connections to one origin; `nil` for the transport's default.
  var connections: Int?
  /// The process's limit of open files; `nil` for no limit. The number of connections stays below this limit, so that
  /// requests wait instead of failing.
  var openFiles: Int?

  /// Creates the transport.
  ///
  /// - Parameters:
  ///   - host: the host of pins without a host.
  ///   - limitsEachWait: whether each phase of an exchange has a timeout. `false` when the whole call has a timeout.
  /// - Throws: ``PlanError`` for options that the transport does not support; ``InputError`` for unreadable files.
  func makeTransport(host: String?, limitsEachWait: Bool) throws -> any Apus.Transport {
    switch transport {
    case .nio: NIOTransport(options: try nioOptions(host: host, limitsEachWait: limitsEachWait))
    case .urlsession: URLSessionTransport(options: try urlSessionOptions(host: host))
    }
  }

  func nioOptions(host: String?, limitsEachWait: Bool) throws -> NIOTransport.Options {
    var options = NIOTransport.Options()
    options.userAgent = "apus/\(ToolVersion.current)"
    options.retriesOnStaleConnection = retries
    if let protocolChoice { options.protocols = protocolChoice.versions }
    options.trust.additionalTrustRoots = try authorities.map { try InputFile.contents($0) }
    options.trust.clientIdentity = try clientIdentity()
    options.trust.pins = try Pin.hosts(pins, defaultHost: host)
    switch proxy {
    case .none: options.proxy = .none
    case .environment: options.proxy = .environment
    case .server(let proxy): options.proxy = .proxy(proxy)
    }
    if !limitsEachWait { (options.firstByteTimeout, options.stallTimeout) = (nil, nil) }
    if let connections {
      options.maximumConnectionsPerOrigin = connections
      options.maximumConnections = max(options.maximumConnections, 4 * connections)
    }
    options.maximumConnectionsPerOrigin = min(options.maximumConnectionsPerOrigin, maximumSockets)
    options.maximumConnections = min(options.maximumConnections, maximumSockets)
    return options
  }

  func urlSessionOptions(host: String?) throws -> URLSessionTransport.Options {
    guard authorities.isEmpty else {
      throw PlanError("--ca needs --transport nio: URLSession uses only the system's authorities.")
    }
    if let protocolChoice {
      throw PlanError("--\(protocolChoice.rawValue) needs --transport nio: URLSession chooses the version of HTTP.")
    }
    if case .server = proxy {
      throw PlanError("--proxy URL needs --transport nio: URLSession uses only the system's proxies.")
    }
    var options = URLSessionTransport.Options()
    options.userAgent = "apus/\(ToolVersion.current)"
    options.trust.clientIdentity = try clientIdentity()
    options.trust.pins = try Pin.hosts(pins, defaultHost: host)
    // URLSession always resends a request if a reused connection was closed, so no connection is reused.
    options.reusesConnections = retries
    if let connections { options.maximumConnectionsPerHost = min(connections, maximumSockets) }
    return options
  }

  /// The maximum number of connections that the limit of open files permits.
  private var maximumSockets: Int {
    openFiles.map { max(1, $0 - 64) } ?? .max
  }

  private func clientIdentity() throws -> ClientIdentity? {
    try identityFiles().map { ClientIdentity(certificates: $0.certificates, key: $0.key) }
  }

  /// Returns the content of the files with the client's identity.
  func identityFiles() throws -> (certificates: Data, key: Data)? {
    guard let identity else { return nil }
    let certificates = try InputFile.contents(identity.certificate)
    // A pipe can be read only once.
    let key = identity.key == identity.certificate ? certificates : try InputFile.contents(identity.key)
    return (certificates, key)
  }
}

/// A pinned public key, written `[HOST=]HASH`.
struct Pin: Sendable, Hashable {
  /// The host; `nil` for the URL's.
  var host: String?
  /// The Base64 of the SHA-256 of the subject public key info.
  var key: String

  init(_ text: String) {
    // The hash itself ends with an equals sign.
    var rest = text
    if let (name, hash) = text.splitAtFirst("="), !hash.isEmpty { (host, rest) = (name, hash) }
    for prefix in ["sha256//", "sha256/"] where rest.utf8.starts(with: prefix.utf8) {
      rest = String(Substring(rest.utf8.dropFirst(prefix.utf8.count)))
      break
    }
    key = rest
  }

  /// Groups pins by host.
  ///
  /// - Parameters:
  ///   - pins: the pins.
  ///   - defaultHost: the host of pins without a host; `nil` if there is none.
  /// - Throws: ``PlanError``
  static func hosts(_ pins: [Pin], defaultHost: String?) throws(PlanError) -> [PinnedHost] {
    var keys: [String: [String]] = [:]
    for pin in pins {
      guard let host = pin.host ?? defaultHost else {
        throw PlanError("This command needs the host of a pin: --pin HOST=HASH.")
      }
      keys[host.lowercased(), default: []].append(pin.key)
    }
    do {
      // The library requires a backup key. A command needs none, so a random hash is used.
      return try keys.sorted { $0.key < $1.key }.map { try PinnedHost($0.key, keys: $0.value, backup: [randomHash()]) }
    } catch {
      throw PlanError("A pin must be a host and the Base64 of a public key's SHA-256: \(error).")
    }
  }

  private static func randomHash() -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    // 43 digits and a padding character encode 32 bytes if the two low bits of the last digit are zero.
    let digits = (0..<42).map { _ in alphabet[Int.random(in: 0..<64)] } + [alphabet[Int.random(in: 0..<16) * 4]]
    return String(digits) + "="
  }
}
