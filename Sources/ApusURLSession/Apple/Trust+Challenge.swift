#if canImport(Security)
import ApusCore
import CryptoKit
import Foundation
import Security

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The response to a challenge of the session.
enum ChallengeResponse {
  /// The system decides.
  case system
  /// The exchange continues without a credential.
  case none
  case credential(URLCredential)
  /// The exchange ends for this reason.
  case refused(String)
}

extension URLSessionTransport.Trust {
  /// Verifies the server's certificates, and presents the client's certificate if the server requests one.
  func response(to challenge: URLAuthenticationChallenge, now: Date = Date()) -> ChallengeResponse {
    let space = challenge.protectionSpace
    switch space.authenticationMethod {
    case NSURLAuthenticationMethodServerTrust: return decide(space.serverTrust, of: space.host, at: now)
    case NSURLAuthenticationMethodClientCertificate: return identify()
    default: return .none
    }
  }

  /// Verifies the server's certificate chain. The system's verification comes first, because a pin does not replace
  /// trust in the chain.
  private func decide(_ serverTrust: SecTrust?, of host: String, at now: Date) -> ChallengeResponse {
    guard pins.covers(host, at: now) else { return .system }
    guard let serverTrust else { return .refused("\(host) presented no certificate") }
    var error: CFError?
    guard SecTrustEvaluateWithError(serverTrust, &error) else {
      return .refused("the certificate of \(host) is not trusted")
    }
    // After the evaluation this is the verified chain, not the chain that the server sent.
    let chain = SecTrustCopyCertificateChain(serverTrust) as? [SecCertificate] ?? []
    let keys = chain.compactMap { certificate in
      SubjectPublicKeyInfo.bytes(ofCertificate: Data(referencing: SecCertificateCopyData(certificate) as NSData))
        .map { Data(SHA256.hash(data: $0)) }
    }
    guard pins.accepts(keys, from: host, at: now) else {
      return .refused("no key in the chain of \(host) is one of its pinned keys")
    }
    return .credential(URLCredential(trust: serverTrust))
  }

  private func identify() -> ChallengeResponse {
    // The server decides whether to continue without an identity.
    guard let clientIdentity else { return .none }
    guard let credential = clientIdentity.credential() else {
      return .refused("the client's certificate cannot be read")
    }
    return .credential(credential)
  }
}

extension ClientIdentity {
  /// Opens the PKCS #12 container in memory, without a keychain. `nil` for identities in PEM, which the system can
  /// import only into a keychain.
  fileprivate func credential() -> URLCredential? {
    guard case .pkcs12(let pkcs12, let passphrase) = format else { return nil }
    let options: [String: Any] = [
      kSecImportExportPassphrase as String: passphrase, kSecImportToMemoryOnly as String: true,
    ]
    var items: CFArray?
    guard
      SecPKCS12Import(
        NSData(data: pkcs12) as CFData, NSDictionary(dictionary: options) as CFDictionary, &items) == errSecSuccess,
      let item = (items as? [[String: Any]])?.first,
      let anyIdentity = item[kSecImportItemIdentity as String],
      CFGetTypeID(anyIdentity as CFTypeRef) == SecIdentityGetTypeID()
    else { return nil }
    // Casts to Core Foundation types are not checked at run time, so the type id is compared before.
    let identity = unsafeDowncast(anyIdentity as AnyObject, to: SecIdentity.self)
    let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
    return URLCredential(identity: identity, certificates: Array(chain.dropFirst()), persistence: .none)
  }
}
#endif
