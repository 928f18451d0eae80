#if NIO
  import NIOSSL

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// The keys of the chain of certificates that was found valid for one connection. Lives on its event loop.
  final class VerifiedChain {
    /// SHA-256 of the subject public key info of each certificate, authority included.
    private(set) var keys: [Data] = []

    /// A handler that verifies as ever, and has every certificate of the valid chain noted here.
    func handler(context: NIOSSLContext, serverName: String?) throws -> NIOSSLClientHandler {
      let make: any PinnedHandlerMaking.Type = PinnedHandler.self
      return try make.handler(context: context, serverName: serverName) { result, certificate in
        // What was found wrong stays wrong: this only listens.
        guard case .certificateVerified = result else { return .failed }
        guard let key = try? certificate.extractPublicKey().toSPKIBytes() else { return .failed }
        self.keys.append(Data(SHA256.hash(key)))
        return .certificateVerified
      }
    }
  }

  /// Of the ways to look at a chain only the one marked as old shows the certificates of the chain that was found
  /// valid, with the verification itself left as it is; the newer ones replace the verification. Asked for through a
  /// protocol, which has no such mark.
  private protocol PinnedHandlerMaking {
    static func handler(
      context: NIOSSLContext, serverName: String?, callback: @escaping NIOSSLVerificationCallback
    ) throws -> NIOSSLClientHandler
  }

  private enum PinnedHandler: PinnedHandlerMaking {
    @available(*, deprecated, message: "only to call what is deprecated itself")
    static func handler(
      context: NIOSSLContext, serverName: String?, callback: @escaping NIOSSLVerificationCallback
    ) throws -> NIOSSLClientHandler {
      try NIOSSLClientHandler(context: context, serverHostname: serverName, verificationCallback: callback)
    }
  }
#endif
