public import ApusCore

extension URLSessionTransport {
  /// Whom a transport trusts beyond what the system trusts, and how it identifies itself.
  ///
  /// For Apple's platforms. Elsewhere `URLSession` cannot do any of it, and a transport with a pin or an identity
  /// refuses every message with a ``TransportError`` of the kind `unsupported`: nothing is ever sent with less
  /// protection than was asked for.
  public struct Trust: Sendable {
    /// Keys that hosts must show, in a chain that the system trusts; a host without pins is judged by the system
    /// alone. Default: none.
    public var pins: [PinnedHost] = []
    /// The certificate and key to show to servers that ask for one. Default: none.
    public var clientIdentity: ClientIdentity?

    /// The system decides whom to trust, and the client stays anonymous.
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
