import NIOCore
import NIOSSL

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A failed TLS connection, described in words instead of the TLS library's source locations.
struct TLSFailure: Error {
  /// The reason, as a clause.
  let reason: String
  /// The error that the TLS library reported; `nil` if it reported no error.
  let underlying: (any Error)?

  init(reason: String, underlying: (any Error)? = nil) {
    (self.reason, self.underlying) = (reason, underlying)
  }

  /// Creates a failure from an error; `nil` if the error is not about TLS.
  ///
  /// - Parameter fault: describes the certificate's fault when the library only reports that the certificate is not
  ///   valid.
  init?(_ error: any Error, fault: () -> String?) {
    guard let reason = Self.reason(of: error) else { return nil }
    self.init(reason: (reason == Self.untrusted ? fault() : nil) ?? reason, underlying: error)
  }

  /// Describes the fault in a rejected certificate's dates; `nil` if the dates have no fault. The library checks the
  /// dates, but does not report the fault.
  static func fault(of certificate: NIOSSLCertificate?, at now: Date) -> String? {
    guard let certificate else { return nil }
    let (start, end) = (Double(certificate.notValidBefore), Double(certificate.notValidAfter))
    if now.timeIntervalSince1970 > end { return "the certificate expired on \(day(end))" }
    if now.timeIntervalSince1970 < start { return "the certificate is not valid before \(day(start))" }
    return nil
  }

  private static func day(_ seconds: Double) -> String {
    String(Date(timeIntervalSince1970: seconds).formatted(.iso8601).prefix(10))
  }

  /// Returns the reason as a clause; `nil` if the error is not about TLS.
  static func reason(of error: any Error) -> String? {
    switch error {
    case let error as TLSFailure: error.reason
    case let error as NIOSSLError: text(of: error)
    case let error as BoringSSLError: text(of: error)
    case let error as NIOSSLExtraError: text(of: error)
    default: nil
    }
  }

  private static func text(of error: NIOSSLError) -> String {
    switch error {
    case .handshakeFailed(let error), .shutdownFailed(let error): text(of: error)
    case .noCertificateToValidate: "the server presented no certificate"
    case .unableToValidateCertificate, .cannotFindPeerIP: wrongHost
    case .uncleanShutdown: closed
    case .failedToLoadCertificate, .failedToLoadPrivateKey, .noSuchFilesystemObject:
      "the certificates or the key cannot be read"
    default: "\(error)"
    }
  }

  private static func text(of error: NIOSSLExtraError) -> String {
    switch error {
    case .failedToValidateHostname: wrongHost
    case .serverHostnameImpossibleToMatch, .invalidSNIHostname: "no certificate can match a host of this name"
    default: "the TLS library failed"
    }
  }

  private static func text(of error: BoringSSLError) -> String {
    switch error {
    case .zeroReturn, .syscallError: closed
    case .sslError(let stack), .unknownError(let stack), .invalidSNIName(let stack), .failedToSetALPN(let stack):
      // The first entry of the error stack is the cause; later entries are its consequences.
      stack.lazy.compactMap { reason(named: name(in: "\($0)")) }.first ?? "the TLS handshake failed"
    default: "the TLS handshake failed"
    }
  }

  /// Extracts the reason's name from an error's description:
  /// `error:1000007d:SSL routines:OPENSSL_internal:NAME at FILE:LINE`.
  static func name(in text: String) -> String? {
    guard let mark = text.firstRange(of: "OPENSSL_internal:") else { return nil }
    let name = text[mark.upperBound...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    return name.isEmpty ? nil : String(name)
  }

  /// Returns a sentence for a reason's name.
  static func reason(named name: String?) -> String? {
    guard let name else { return nil }
    if let reason = reasons[name] { return reason }
    let words = name.lowercased().split(separator: "_")
    guard let alert = words.firstIndex(of: "alert") else {
      return "the TLS handshake failed: \(words.joined(separator: " "))"
    }
    return "the server ended the TLS handshake with the alert \(words[(alert + 1)...].joined(separator: " "))"
  }

  static let untrusted = "the certificate is self-signed or issued by an authority that is not trusted"
  static let wrongVersion = "the server accepts no version of HTTP that is offered (alert no application protocol)"
  static let wrongHost = "the certificate is for another host"
  private static let closed = "the server closed the connection"

  private static let reasons = [
    "CERTIFICATE_VERIFY_FAILED": untrusted,
    "WRONG_VERSION_NUMBER": "the server does not speak TLS at this port",
    "HTTP_REQUEST": "the server does not speak TLS at this port",
    "UNSUPPORTED_PROTOCOL": "the server supports no TLS version that is allowed here",
    "TLSV1_ALERT_PROTOCOL_VERSION": "the server accepts no TLS version that is allowed here",
    "SSLV3_ALERT_HANDSHAKE_FAILURE":
      "the server accepts none of the offered TLS parameters (alert handshake failure)",
    "TLSV1_ALERT_INSUFFICIENT_SECURITY": "the server requires stronger TLS parameters (alert insufficient security)",
    "TLSV1_ALERT_NO_APPLICATION_PROTOCOL": wrongVersion,
    "TLSV1_ALERT_UNRECOGNIZED_NAME": "the server does not know the host name (alert unrecognized name)",
    "TLSV1_UNRECOGNIZED_NAME": "the server does not know the host name (alert unrecognized name)",
    "TLSV1_ALERT_UNKNOWN_CA": "the server does not trust the client's certificate (alert unknown CA)",
    "SSLV3_ALERT_BAD_CERTIFICATE": "the server refused the client's certificate (alert bad certificate)",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "the client's certificate has expired (alert certificate expired)",
    "SSLV3_ALERT_CERTIFICATE_REVOKED": "the client's certificate is revoked (alert certificate revoked)",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "the server refused the client's certificate (alert certificate unknown)",
    "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE":
      "the server refused the client's certificate (alert unsupported certificate)",
    "TLSV1_ALERT_ACCESS_DENIED": "the server refused the client's certificate (alert access denied)",
    "TLSV1_ALERT_CERTIFICATE_REQUIRED": "the server requires a client certificate (alert certificate required)",
    "TLSV1_CERTIFICATE_REQUIRED": "the server requires a client certificate (alert certificate required)",
  ]
}
