import Apus
import ApusAWS
import ApusNIO

/// The signatures of a command: the service and the credentials.
struct AWSPlan: Sendable {
  var signer: SignatureV4
  var credentials: AWSCredentialsPlan
}

/// The origin of AWS credentials.
enum AWSCredentialsPlan: Sendable, Hashable {
  /// The keys on the command line.
  case keys(AWSCredentials)
  /// The locations that AWS's own tools search, with a profile of the user's files; `nil` for the default profile.
  case search(profile: String?)

  /// Returns the provider of credentials.
  ///
  /// Services with http are on this machine or its local link: they are contacted without a proxy, which could read the
  /// credentials.
  ///
  /// - Parameter transport: the transport to services with https.
  func provider(_ transport: any Transport) -> any AWSCredentialsProvider {
    switch self {
    case .keys(let credentials): return credentials
    case .search(let profile):
      var environment = AWSEnvironment.system
      environment.profile = profile
      return AWSCredentialsChain(
        transport: SchemeTransport(http: NIOTransport(), https: transport), environment: environment)
    }
  }

  /// Returns the account's name in records of interrupted transfers; `nil` if it is unknown. The name is the same for
  /// each new set of temporary credentials.
  func account(in environment: [String: String]) -> String? {
    switch self {
    case .keys(let credentials): credentials.accessKeyID
    case .search(let profile): profile ?? environment["AWS_PROFILE"] ?? environment["AWS_ACCESS_KEY_ID"]
    }
  }
}

/// A transport that selects another transport by the scheme.
private struct SchemeTransport: Transport {
  let http: any Transport
  let https: any Transport

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try await (request.head.scheme == "http" ? http : https).send(request, context: context)
  }
}
