public import ApusCore

extension URLSessionTransport {
  /// The options of a transport.
  public struct Options: Sendable {
    /// The most HTTP/1.1 connections to one host; further messages wait. Default: 6.
    public var connectionsPerHost = 6
    /// Whether connections are reused. Default: `true`.
    ///
    /// The platform silently sends a request again if a reused connection turns out to be closed before any byte of the
    /// response. On Linux it would do so even with requests that must not be sent twice, so those always get a new
    /// connection there. With `false` every request does.
    public var reusesConnections = true
    /// The `User-Agent` of messages without one. Default: `apus`.
    public var userAgent = "apus"
    /// The pinned keys and the client's identity. Default: none; the system decides whom to trust.
    public var trust = Trust()

    #if canImport(Security)
      /// Whether cellular networks may be used. Default: `true`.
      public var allowsCellular = true
      /// Whether networks that the system considers expensive may be used. Default: `true`.
      public var allowsExpensive = true
      /// Whether networks in Low Data Mode may be used. Default: `true`.
      public var allowsConstrained = true
      /// Whether messages wait for connectivity instead of failing as offline. Default: `false`; waiting is for a layer
      /// that the app can observe.
      public var waitsForConnectivity = false
      /// The oldest accepted version of TLS. Default: 1.2.
      public var tlsMinimum = TLSVersion.tls12
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
  /// For Apple platforms. Elsewhere `URLSession` supports neither, and a transport with a pin or an identity refuses
  /// every message with a ``TransportError`` of the kind `unsupported`: nothing is sent with less protection than was
  /// asked for.
  public struct Trust: Sendable {
    /// The keys that hosts must present, in a chain that the system trusts. A host without pins is judged by the system
    /// alone. Default: none.
    public var pins: [PinnedHost] = []
    /// The certificate and key for servers that request one. Default: none.
    public var clientIdentity: ClientIdentity?

    /// Creates the default trust: the system decides, no client identity.
    public init() {}

    func checkSupport() throws {
      #if !canImport(Security)
        guard pins.isEmpty, clientIdentity == nil else {
          let what = pins.isEmpty ? "show a client certificate" : "check pinned keys"
          throw TransportError(
            .unsupported, requestState: .notSent, detail: "URLSession cannot \(what) on this platform")
        }
      #endif
    }
  }
}
