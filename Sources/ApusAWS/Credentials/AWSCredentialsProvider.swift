import ApusCore

/// A source of the credentials with which requests are signed.
///
/// ``AWSCredentials`` are their own provider, for credentials that do not change. A provider is called for every
/// request, so it should cache the credentials that it has fetched.
public protocol AWSCredentialsProvider: Sendable {
  /// Returns credentials that have not expired.
  ///
  /// - Throws: the reason why no credentials are available; `CancellationError` when the task is cancelled.
  func credentials() async throws -> AWSCredentials

  /// Records that a server rejected credentials as expired or revoked, so that they are not returned again. Default:
  /// does nothing.
  func invalidate(_ credentials: AWSCredentials)
}

extension AWSCredentialsProvider {
  /// Does nothing.
  public func invalidate(_ credentials: AWSCredentials) {}
}

/// A provider that caches credentials, and accepts the context of the call that needs them.
protocol ReadyCredentialsProvider: AWSCredentialsProvider {
  /// The credentials, if they are available without waiting.
  var ready: AWSCredentials? { get }

  /// Returns credentials. The attempt timeout of the call applies to the wait.
  func credentials(for context: CallContext) async throws -> AWSCredentials
}

extension AWSCredentials: AWSCredentialsProvider {
  /// Returns these credentials.
  public func credentials() -> AWSCredentials { self }
}
