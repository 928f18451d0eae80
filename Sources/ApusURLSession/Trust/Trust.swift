public import ApusCore

extension URLSessionTransport {
  /// Whom a transport trusts beyond what the system trusts, and how it identifies itself.
  ///
  /// Not evaluated yet on Apple platforms, and not possible with `URLSession` elsewhere. A transport with any of it
  /// refuses every message with a ``TransportError`` of the kind `unsupported`: nothing is ever sent with less
  /// protection than was asked for.
  public struct Trust: Sendable {
    /// Keys that hosts must show; a host without pins is judged by the system alone. Default: none.
    public var pins: [PinnedHost] = []
    /// The certificate and key to show to servers that ask for one. Default: none.
    public var clientIdentity: ClientIdentity?

    /// The system decides whom to trust, and the client stays anonymous.
    public init() {}

    func checkSupport() throws {
      guard pins.isEmpty else {
        throw TransportError(
          .unsupported, requestState: .notSent, detail: "pinned keys are not checked by this transport")
      }
      guard clientIdentity == nil else {
        throw TransportError(
          .unsupported, requestState: .notSent, detail: "client certificates are not shown by this transport"
        )
      }
    }
  }
}
