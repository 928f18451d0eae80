public import ApusCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The credentials that sign requests to AWS, and to other servers that verify AWS signatures.
public struct AWSCredentials: Sendable, Hashable, SelfRedacting {
  /// The access key ID, which is part of every signed request, and not secret.
  public var accessKeyID: String
  /// The secret access key, which is never sent.
  public var secretAccessKey: String
  /// The session token of temporary credentials, sent with every request; `nil` for long-term credentials.
  public var sessionToken: String?
  /// The time at which temporary credentials expire; `nil` if they do not expire, or if the time is unknown.
  public var expiration: Date?

  /// Creates credentials.
  public init(
    accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expiration: Date? = nil
  ) {
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
    self.sessionToken = sessionToken
    self.expiration = expiration
  }

  /// The access key ID, without the secrets.
  public var description: String { "AWSCredentials(\(accessKeyID))" }
}
