public import ApusCore

/// The reason why no credentials are available: the failures of the providers that were tried, in order.
public struct AWSCredentialsError: LoggableError, Hashable {
  /// A provider of credentials.
  package enum Source: String, Sendable, Hashable, CaseIterable {
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    case environment = "environment variables"
    /// `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`.
    case webIdentity = "web identity"
    /// A profile of the user's files.
    case profile
    /// `AWS_CONTAINER_CREDENTIALS_FULL_URI` and `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`.
    case container
    /// The metadata service of an instance.
    case instance = "instance metadata"
  }

  /// A provider that returned no credentials.
  package struct Failure: Sendable, Hashable {
    /// The provider.
    package let source: Source
    /// Whether the provider is configured, so that the following providers were not tried.
    package let isConfigured: Bool
    /// The reason as a clause. Contains no secrets.
    package let reason: String
  }

  /// The failures of the providers that were tried, in order. Only the last provider may be configured.
  package let failures: [Failure]

  /// The providers and their reasons.
  public var description: String {
    "there are no AWS credentials: " + failures.map { "\($0.source.rawValue): \($0.reason)" }.joined(separator: "; ")
  }
}
