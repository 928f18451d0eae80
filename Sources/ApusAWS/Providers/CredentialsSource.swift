import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Credentials and the rules for them.
struct FetchedCredentials: Sendable, Equatable {
  /// Their expiration is by the device's clock.
  var credentials: AWSCredentials
  /// Whether they are used beyond their expiration while no others can be fetched, because their service extends them
  /// during its outages (static stability).
  var isStable = false
}

/// The reason why a provider gave no credentials.
struct SourceFailure: LoggableError, Hashable {
  /// A clause without secrets.
  let reason: String
  /// Whether the provider is configured, and should have given credentials.
  var isConfigured = true

  var description: String { reason }

  static func absent(_ reason: String) -> SourceFailure { SourceFailure(reason: reason, isConfigured: false) }
}

/// The machine and the network, from the view of providers.
struct ProviderContext: Sendable {
  let environment: AWSEnvironment
  let transport: any Transport
  let runtime: Runtime

  /// Reads a file with a secret; `nil` if there is none.
  func text(of path: String, maximumLength: Int = 64 << 10) throws(SourceFailure) -> String? {
    guard let path = environment.absolute(path) else {
      throw SourceFailure(reason: "\(path) is not an absolute path")
    }
    do {
      guard let data = try environment.readFile(path, maximumLength) else { return nil }
      guard let text = String(validating: data, as: UTF8.self) else {
        throw SourceFailure(reason: "\(path) is not UTF-8")
      }
      return text
    } catch {
      if let error = error as? SourceFailure { throw error }
      throw SourceFailure(reason: "\(path): \((error as? any LoggableError)?.description ?? "it cannot be read")")
    }
  }
}

extension AWSCredentials {
  /// Creates credentials that a field can contain.
  static func checked(
    _ id: String?, _ secret: String?, token: String?, expiration: Date? = nil
  ) throws(SourceFailure) -> AWSCredentials {
    guard let id, let secret, !id.isEmpty, !secret.isEmpty else {
      throw SourceFailure(reason: "the access key ID or the secret access key is missing")
    }
    let token = token.flatMap { $0.isEmpty ? nil : $0 }
    guard (id + (token ?? "")).utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw SourceFailure(reason: "the access key ID or the session token contains characters that cannot be sent")
    }
    return AWSCredentials(accessKeyID: id, secretAccessKey: secret, sessionToken: token, expiration: expiration)
  }
}

extension Date {
  /// A time as services write it: ISO 8601, with or without fractions of a second.
  static func ofService(_ text: String) -> Date? {
    guard text.utf8.count <= 64 else { return nil }
    // An older notation of the SSO cache.
    let text = text.hasSuffix("UTC") ? text.dropLast(3) + "Z" : text
    return (try? Date(text, strategy: .iso8601))
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
  }
}
