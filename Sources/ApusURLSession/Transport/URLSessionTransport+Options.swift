extension URLSessionTransport {
  /// How a transport connects. Whatever is not listed is fixed, because another layer does it.
  public struct Options: Sendable {
    /// The most connections to one host with HTTP/1.1; messages beyond wait for one. Default: 6.
    public var connectionsPerHost = 6
    /// Whether an exchange may use a connection that another one has used before. Default: yes.
    ///
    /// The platform repeats a request by itself, unseen, when such a connection turns out to be closed before
    /// any byte of the answer. Requests that must not be sent twice never use one on Linux, where that would
    /// happen to them too; with `false` none does.
    public var reusesConnections = true
    /// The `User-Agent` of messages that have none. Default: `apus`.
    public var userAgent = "apus"
    /// Whom to trust beyond what the system trusts, and how to identify oneself. Default: the system decides.
    public var trust = Trust()

    #if canImport(Security)
      /// Whether cellular connections may be used. Default: yes.
      public var allowsCellular = true
      /// Whether connections that the system considers expensive may be used. Default: yes.
      public var allowsExpensive = true
      /// Whether connections in Low Data Mode may be used. Default: yes.
      public var allowsConstrained = true
      /// Whether messages wait for a connection instead of failing as offline. Default: no, since waiting is
      /// for a layer that the app can see.
      public var waitsForConnectivity = false
      /// The oldest version of TLS to accept. Default: 1.2.
      public var tlsMinimum = TLSVersion.tls12
    #endif

    /// The defaults.
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
}
