public import ApusCore

extension URLSessionTransport {
  /// The options of a transport.
  public struct Options: Sendable {
    /// The maximum number of HTTP/1.1 connections to one host; further messages wait. Default: 6.
    public var maximumConnectionsPerHost = 6
    /// Whether connections are reused. Default: `true`.
    ///
    /// The platform silently retries a request if a reused connection turns out to be closed before any byte of the
    /// response. On Linux it would retry even requests that must not be sent twice, so such requests always use a new
    /// connection there. With `false` every request uses a new connection.
    public var reusesConnections = true
    /// The `User-Agent` of messages that do not set this field. Default: `apus`.
    public var userAgent = "apus"
    /// The pinned keys and the client's identity. Default: none; the system alone decides about trust.
    public var trust = Trust()
    /// The addresses that the transport may connect to. Default: any. `URLSession` does not report addresses before it
    /// connects, so with any other policy every call is refused.
    public var addresses = AddressPolicy.any

    #if canImport(Security)
    /// Whether cellular networks may be used. Default: `true`.
    public var allowsCellularAccess = true
    /// Whether networks that the system considers expensive may be used. Default: `true`.
    public var allowsExpensiveNetworkAccess = true
    /// Whether networks in Low Data Mode may be used. Default: `true`.
    public var allowsConstrainedNetworkAccess = true
    /// Whether messages wait for connectivity instead of failing as offline. Default: `false`: with
    /// `Configuration.connectivity` set, calls wait where the app can observe the wait.
    public var waitsForConnectivity = false
    /// The oldest accepted version of TLS. Default: 1.2.
    public var minimumTLSVersion = TLSVersion.tls12
    #endif

    /// Creates the default options.
    public init() {}
  }

  #if canImport(Security)
  /// A version of TLS.
  public enum TLSVersion: Sendable, Hashable {
    /// TLS 1.2 (RFC 5246).
    case tls12
    /// TLS 1.3 (RFC 8446).
    case tls13
  }
  #endif

  /// The pinned keys and the client's identity, beyond the system's own trust.
  ///
  /// Effective on Apple platforms. On other platforms `URLSession` supports neither, and a transport with a pin or an
  /// identity refuses every message with a `TransportError` with the code `invalidRequest`: nothing is sent with less
  /// protection than requested.
  public struct Trust: Sendable {
    /// The keys that hosts must present, in a chain that the system trusts. A host without pins is verified by the
    /// system alone. Default: none.
    public var pins: [PinnedHost] = []
    /// The certificate and key for servers that request a client certificate. Default: none.
    public var clientIdentity: ClientIdentity?

    /// Creates the default trust: the system decides, no client identity.
    public init() {}

    func checkSupport() throws {
      #if !canImport(Security)
      guard pins.isEmpty, clientIdentity == nil else {
        let what = pins.isEmpty ? "show a client certificate" : "check pinned keys"
        throw TransportError(
          .invalidRequest, requestState: .notSent, detail: "URLSession cannot \(what) on this platform")
      }
      #endif
    }
  }
}
