public import ApusCore

/// The credentials of the machine, found in the same places as by AWS's own tools.
///
/// <!-- sample: credentials-chain -->
/// ```swift
/// let chain = AWSCredentialsChain(transport: NIOTransport())
/// let signing = SigningMiddleware(SignatureV4(region: "eu-central-1", service: "execute-api"), credentials: chain)
/// ```
///
/// The providers are tried in order, and the first configured provider is used. If this provider fails, the search
/// ends, so that a request is never signed with an unintended identity. The order: environment variables; web identity;
/// the profile (keys, an assumed role, a sign-in with `aws sso login`, a program); a container's service; an instance's
/// metadata service. ``AWSEnvironment/profile`` restricts the search to one profile.
///
/// Concurrent calls share one fetch. Credentials are fetched again in the last tenth of their lifetime, at most a
/// minute before its end, while calls still use the old credentials. Expired credentials are not used, except those of
/// an instance during an outage of its service. After a failure no provider is called for a second. This pause doubles
/// with each further failure, up to a minute. During the pause calls fail immediately with the same error.
///
/// No file is read from the working directory, and programs run without a shell.
public final class AWSCredentialsChain: AWSCredentialsProvider {
  private let cache: CredentialsCache

  /// Creates a chain. No provider is called before the first call.
  ///
  /// - Parameters:
  ///   - transport: the transport of requests to services that issue credentials. The transport must not use a proxy:
  ///     the addresses of containers and instances belong to this machine, and the responses are secret.
  ///   - environment: the variables, files and programs. Default: ``AWSEnvironment/system``, the environment of the
  ///     process.
  ///   - runtime: the clock, the executor and the source of randomness. Default: the system's.
  public init(transport: any Transport, environment: AWSEnvironment = .system, runtime: Runtime = Runtime()) {
    let context = ProviderContext(environment: environment, transport: transport, runtime: runtime)
    cache = CredentialsCache(runtime, now: environment.now) { try await Self.fetch(context) }
  }

  /// Returns credentials. Fetches credentials if none are cached, or if the cached credentials cannot be used.
  ///
  /// - Throws: ``AWSCredentialsError``; `CancellationError` when the task is cancelled. Cancellation does not end the
  ///   fetch.
  public func credentials() async throws -> AWSCredentials { try await cache.credentials() }

  /// Records that a server rejected credentials as expired, so that the next call fetches new credentials. A repeated
  /// rejection of the same credentials is ignored for a minute.
  public func invalidate(_ credentials: AWSCredentials) { cache.invalidate(credentials) }

  private static func fetch(_ context: ProviderContext) async throws(AWSCredentialsError) -> FetchedCredentials {
    typealias Source = AWSCredentialsError.Source
    var failures: [AWSCredentialsError.Failure] = []
    let sources: [Source] = context.environment.profile == nil ? Source.allCases : [.profile]
    for source in sources {
      do throws(SourceFailure) {
        return try await fetch(from: source, context)
      } catch {
        failures.append(.init(source: source, isConfigured: error.isConfigured, reason: error.reason))
        if error.isConfigured { break }
      }
    }
    throw AWSCredentialsError(failures: failures)
  }

  private static func fetch(
    from source: AWSCredentialsError.Source, _ context: ProviderContext
  ) async throws(SourceFailure) -> FetchedCredentials {
    switch source {
    case .environment: try EnvironmentSource.fetch(context.environment)
    case .webIdentity: try await WebIdentitySource(context: context).fetch()
    case .profile: try await ProfileSource(context: context).fetch()
    case .container: try await ContainerSource(context: context).fetch()
    case .instance: try await InstanceSource(context: context).fetch()
    }
  }
}

extension AWSCredentialsChain: ReadyCredentialsProvider {
  var ready: AWSCredentials? { cache.ready }

  func credentials(for context: CallContext) async throws -> AWSCredentials {
    try await cache.credentials(for: context)
  }
}
