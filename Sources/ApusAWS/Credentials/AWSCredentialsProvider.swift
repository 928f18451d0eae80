import ApusCore

/// A source of the credentials with which requests are signed.
///
/// ``AWSCredentials`` are their own provider, for credentials that do not change. A provider is asked for every request, so
/// it should keep what it has fetched.
public protocol AWSCredentialsProvider: Sendable {
  /// Returns credentials that have not expired.
  ///
  /// - Throws: the reason why there are none; `CancellationError` when the task is cancelled.
  func credentials() async throws -> AWSCredentials

  /// Notes that a server rejected credentials as expired or revoked, so that they are not returned again. Default: does
  /// nothing.
  func invalidate(_ credentials: AWSCredentials)
}

extension AWSCredentialsProvider {
  /// Does nothing.
  public func invalidate(_ credentials: AWSCredentials) {}
}

/// A provider that keeps credentials, and knows the call that needs them.
protocol ReadyCredentialsProvider: AWSCredentialsProvider {
  /// The credentials, if a call need not wait for them.
  var ready: AWSCredentials? { get }

  /// Returns credentials. The limits of the call end its wait.
  func credentials(for context: CallContext) async throws -> AWSCredentials
}

extension AWSCredentials: AWSCredentialsProvider {
  /// Returns these credentials.
  public func credentials() -> AWSCredentials { self }
}
