import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The service that issues temporary credentials of a role.
struct SecurityTokenService: Sendable {
  /// The role to assume.
  struct Role: Sendable {
    let name: String
    var session: String?
    var externalID: String?
    var seconds: String?
  }

  let context: ProviderContext
  /// The region of the service; `nil` for the global address.
  let region: String?

  private static let timeout = Duration.seconds(10)

  /// Assumes a role with the given credentials.
  func assume(_ role: Role, with credentials: AWSCredentials) async throws(SourceFailure) -> AWSCredentials {
    var form = form("AssumeRole", role)
    if let id = role.externalID { form.append("ExternalId", id) }
    let signing = SigningMiddleware(
      SignatureV4(region: region ?? "us-east-1", service: "sts"), credentials: credentials,
      now: context.environment.now)
    return try await send(form, "AssumeRole", signing)
  }

  /// Assumes a role with the token of an identity provider.
  func assume(_ role: Role, withWebIdentity token: String) async throws(SourceFailure) -> AWSCredentials {
    var form = form("AssumeRoleWithWebIdentity", role)
    form.append("WebIdentityToken", token)
    return try await send(form, "AssumeRoleWithWebIdentity", nil)
  }

  private func form(_ action: String, _ role: Role) -> Query {
    let session = role.session ?? "apus-\(Int64(context.environment.now().timeIntervalSince1970))"
    var form: Query = [
      "Action": action, "Version": "2011-06-15", "RoleArn": role.name, "RoleSessionName": session,
    ]
    if let seconds = role.seconds { form.append("DurationSeconds", seconds) }
    return form
  }

  private func send(
    _ form: Query, _ action: String, _ signing: SigningMiddleware?
  ) async throws(SourceFailure) -> AWSCredentials {
    let url = try url()
    let client = try ProviderClient(url.origin.description, timeout: Self.timeout, context, signing: signing)
    let response = try await client.send(Request<Content>.post(url.path, content: .form(form)))
    let document = try? XMLReader.read(response.content)
    guard response.status == 200 else {
      let code = ErrorName.printable(document?["Error"]?.text(of: "Code"))
      throw SourceFailure(reason: "\(action) was rejected with the status \(response.status), code \(code)")
    }
    guard let found = document?["\(action)Result"]?["Credentials"] else {
      throw SourceFailure(reason: "the response to \(action) cannot be read")
    }
    guard let expiration = found.text(of: "Expiration").flatMap({ Date.ofService($0) }) else {
      throw SourceFailure(reason: "the response to \(action) has no expiration")
    }
    return try AWSCredentials.checked(
      found.text(of: "AccessKeyId"), found.text(of: "SecretAccessKey"), token: found.text(of: "SessionToken"),
      expiration: response.local(expiration))
  }

  private func url() throws(SourceFailure) -> URLReference {
    if let own = context.environment["AWS_ENDPOINT_URL_STS"] ?? context.environment["AWS_ENDPOINT_URL"] {
      return try .ofService(own, from: "the address of the token service")
    }
    guard let region else { return try .ofService("https://sts.amazonaws.com/") }
    return try .ofService("https://sts.\(try RegionName.checked(region)).\(RegionName.domain(of: region))/")
  }
}

extension RegionName {
  /// - Throws: an error if the name could change the host.
  static func checked(_ region: String) throws(SourceFailure) -> String {
    guard isValid(region) else { throw SourceFailure(reason: "the name of the region is invalid") }
    return region
  }
}
