import Apus
import ApusAWS

/// The signatures of a command: for which service, and with which credentials.
struct AWSPlan: Sendable {
  var signer: SignatureV4
  /// The profile of the user's files; `nil` for the usual search.
  var profile: String?
  /// The keys of the command line; `nil` for none.
  var credentials: AWSCredentials?

  /// Returns the provider of credentials.
  ///
  /// - Parameter transport: the transport to services that issue credentials.
  func provider(_ transport: any Transport) -> any AWSCredentialsProvider {
    if let credentials { return credentials }
    var environment = AWSEnvironment.system
    environment.profile = profile
    return AWSCredentialsChain(transport: transport, environment: environment)
  }
}
