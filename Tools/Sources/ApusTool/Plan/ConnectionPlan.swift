import Apus
import ApusNIO
import ApusURLSession

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How calls reach their server, and as whom: what `send` and `batch` have in common.
struct ConnectionPlan: Sendable {
  /// Which transport sends.
  enum Transport: String, Sendable, CaseIterable {
    case nio, urlsession
  }

  /// Which proxy.
  enum ProxyPlan: Sendable, Hashable {
    case none
    case environment
    case server(NIOTransport.Proxy)
  }

  var transport = Transport.nio
  /// The limit of a whole call; `nil`: the command's own.
  var timeout: Duration?
  var followsRedirects = true
  /// Paths of files with certificates of authorities.
  var authorities: [String] = []
  /// Paths of the client's certificate and key.
  var identity: (certificate: String, key: String)?
  var pins: [Pin] = []
  var proxy = ProxyPlan.none
  var retries = true
  /// How many further attempts there are where the first one failed for now.
  var furtherAttempts = 0
  var credentials: CredentialPlan?
  /// The most connections to one origin; `nil`: the transport's own limit.
  var connections: Int?
  /// How many files and sockets the process may have open; connections keep below it, so that requests wait for one
  /// in place of failing. `nil`: nobody asked.
  var openFiles: Int?

  /// Makes the transport.
  ///
  /// - Parameters:
  ///   - host: of pins that name none.
  ///   - limitsEachWait: whether the transport limits each wait by itself: not where the whole call has a limit.
  /// - Throws: ``PlanError`` for what the transport cannot do; ``InputError`` for files that cannot be read.
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
    options.trust.additionalAuthorities = try authorities.map { try InputFile.contents($0) }
    options.trust.clientIdentity = try clientIdentity()
    options.trust.pins = try Pin.hosts(pins, standard: host)
    switch proxy {
    case .none: options.proxy = .none
    case .environment: options.proxy = .environment
    case .server(let proxy): options.proxy = .proxy(proxy)
    }
    if !limitsEachWait { (options.firstByteTimeout, options.stallTimeout) = (nil, nil) }
    if let connections {
      options.connectionsPerOrigin = connections
      options.connections = max(options.connections, 4 * connections)
    }
    options.connectionsPerOrigin = min(options.connectionsPerOrigin, mostSockets)
    options.connections = min(options.connections, mostSockets)
    return options
  }

  func urlSessionOptions(host: String?) throws -> URLSessionTransport.Options {
    guard authorities.isEmpty else {
      throw PlanError("--ca needs --transport nio: URLSession trusts whom the system does.")
    }
    if case .server = proxy {
      throw PlanError("--proxy URL needs --transport nio: URLSession takes its proxies from the system.")
    }
    var options = URLSessionTransport.Options()
    options.userAgent = "apus/\(ToolVersion.current)"
    options.trust.clientIdentity = try clientIdentity()
    options.trust.pins = try Pin.hosts(pins, standard: host)
    // The platform sends again, unseen, when a connection in use before was closed: on new ones it cannot.
    options.reusesConnections = retries
    if let connections { options.connectionsPerHost = min(connections, mostSockets) }
    return options
  }

  /// What is left for connections beside the files of the process itself.
  private var mostSockets: Int {
    openFiles.map { max(1, $0 - 64) } ?? .max
  }

  private func clientIdentity() throws -> ClientIdentity? {
    guard let identity else { return nil }
    let certificates = try InputFile.contents(identity.certificate)
    // A pipe can be read once.
    let key = identity.key == identity.certificate ? certificates : try InputFile.contents(identity.key)
    return ClientIdentity(certificates: certificates, key: key)
  }
}
