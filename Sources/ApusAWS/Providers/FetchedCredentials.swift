import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Fetched credentials and the rules for their use.
struct FetchedCredentials: Sendable, Equatable {
  /// The credentials. Their expiration is a time of the device's clock.
  var credentials: AWSCredentials
  /// Whether expired credentials are used while no new credentials can be fetched, because their service extends them
  /// during its outages (static stability).
  var isStable = false
}

/// The reason why a provider returned no credentials.
struct SourceFailure: LoggableError, Hashable {
  /// The reason as a clause without secrets.
  let reason: String
  /// Whether the provider is configured, and should have returned credentials.
  var isConfigured = true

  var description: String { reason }

  static func absent(_ reason: String) -> SourceFailure { SourceFailure(reason: reason, isConfigured: false) }
}

/// The environment and the client that providers use.
struct ProviderContext: Sendable {
  let environment: AWSEnvironment
  let transport: any Transport
  let runtime: Runtime

  /// Reads a file with a secret. Returns `nil` if the file does not exist.
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
  /// Creates credentials from values that fields can contain.
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
  /// Parses a service's time: ISO 8601, with or without fractions of a second.
  static func ofService(_ text: String) -> Date? {
    guard text.utf8.count <= 64 else { return nil }
    // An older notation of the SSO cache.
    let text = text.hasSuffix("UTC") ? text.dropLast(3) + "Z" : text
    return (try? Date(text, strategy: .iso8601))
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
  }
}
