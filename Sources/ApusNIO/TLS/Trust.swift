#if NIO
  public import ApusCore

  #if canImport(FoundationEssentials)
    public import FoundationEssentials
  #else
    public import Foundation
  #endif

  extension NIOTransport {
    /// Whom a transport trusts, and how it identifies itself. Certificates are always verified.
    public struct Trust: Sendable {
      /// Whose certificates count. Default: those the system trusts.
      public var authorities = Authorities.system
      /// Certificates of authorities that count besides, in PEM (RFC 7468), any number in each. Default: none.
      public var additionalAuthorities: [Data] = []
      /// Keys that hosts must show; a host without pins is judged by its certificate alone. Default: none.
      public var pins: [PinnedHost] = []
      /// The certificate and key to show to servers that ask for one: to any that calls go or are redirected to, so bind
      /// redirects to hosts where that matters. Default: none.
      public var clientIdentity: ClientIdentity?
      /// The oldest version of TLS to speak. Default: 1.2.
      public var minimumVersion = TLSVersion.tls12

      /// The system decides whom to trust, and the client stays anonymous.
      public init() {}
    }

    /// Authorities whose certificates count.
    public enum Authorities: Sendable, Hashable {
      /// Those the system trusts.
      case system
      /// These alone, in PEM (RFC 7468).
      case only(Data)
    }

    /// A version of TLS.
    public enum TLSVersion: Sendable, Hashable {
      /// TLS 1.2 (RFC 5246).
      case tls12
      /// TLS 1.3 (RFC 8446).
      case tls13
    }
  }
#endif
