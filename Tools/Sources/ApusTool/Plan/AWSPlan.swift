import Apus
import ApusAWS

/// The signatures of a command: for which service, and with which credentials.
struct AWSPlan: Sendable {
  var signer: SignatureV4
  var credentials: AWSCredentialsPlan
}

/// The origin of AWS credentials.
enum AWSCredentialsPlan: Sendable, Hashable {
  /// The keys of the command line.
  case keys(AWSCredentials)
  /// The places that AWS's own tools search, with a profile of the user's files; `nil` for the usual one.
  case search(profile: String?)

  /// Returns the provider of credentials.
  ///
  /// - Parameters:
  ///   - transport: the transport of the command, to services with https.
  ///   - connection: the connections of the command. Services with http are on this machine or on its network's link:
  ///     they are never called through a proxy, which would see the credentials.
  /// - Throws: ``PlanError``, ``InputError``
  func provider(_ transport: any Transport, _ connection: ConnectionPlan) throws -> any AWSCredentialsProvider {
    guard case .search = self, connection.proxy != .none else { return provider(transport) }
    var plain = connection
    plain.proxy = .none
    let direct = try plain.makeTransport(host: nil, limitsEachWait: connection.timeout == nil)
    return provider(SchemeTransport(http: direct, https: transport))
  }

  /// Returns the provider of credentials.
  ///
  /// - Parameter transport: the transport to services that issue credentials, without a proxy.
  func provider(_ transport: any Transport) -> any AWSCredentialsProvider {
    switch self {
    case .keys(let credentials): return credentials
    case .search(let profile):
      var environment = AWSEnvironment.system
      environment.profile = profile
      return AWSCredentialsChain(transport: transport, environment: environment)
    }
  }

  /// Returns the name of the account for records of interrupted transfers, which is the same for each new set of
  /// temporary credentials; `nil` if it is unknown.
  func account(in environment: [String: String]) -> String? {
    switch self {
    case .keys(let credentials): credentials.accessKeyID
    case .search(let profile): profile ?? environment["AWS_PROFILE"] ?? environment["AWS_ACCESS_KEY_ID"]
    }
  }
}

/// A transport that consists of one for each scheme.
private struct SchemeTransport: Transport {
  let http: any Transport
  let https: any Transport

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try await (request.head.scheme == "http" ? http : https).send(request, context: context)
  }
}
