import ApusCore

/// The credentials of the role of an instance, from its metadata service, version 2.
///
/// Version 1, which needs no token, is never used: an attacker who can make a server send a GET request must not get
/// credentials. The service limits its token response to one hop, so in a container the request for the token may time
/// out.
struct InstanceSource: Sendable {
  let context: ProviderContext

  /// The timeout of each request, because on a machine without the service no response may arrive.
  private static let timeout = Duration.seconds(1)
  /// The hosts, besides loopback addresses, to which a request without TLS may be sent.
  private static let allowedHosts: Set = ["169.254.169.254", "[fd00:ec2::254]"]
  private static let tokenField = "X-aws-ec2-metadata-token"

  func fetch() async throws(SourceFailure) -> FetchedCredentials {
    let environment = context.environment
    if environment["AWS_EC2_METADATA_DISABLED"]?.lowercased() == "true" {
      throw .absent("AWS_EC2_METADATA_DISABLED is true")
    }
    let isIPv6 = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]?.lowercased() == "ipv6"
    let defaultEndpoint = isIPv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254"
    let variable = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
    let url = try URLReference.ofService(
      environment[variable] ?? defaultEndpoint, from: variable, withoutTLS: Self.allowedHosts)
    let client = try ProviderClient("\(url.origin)\(url.target)", timeout: Self.timeout, context)
    let token = try await token(client)
    let list = try await get("", client, token)
    guard list.status != 404 else { throw .absent("the instance has no role") }
    guard list.status == 200, let name = list.text?.split(whereSeparator: \.isNewline).first.map({ String($0) }) else {
      throw SourceFailure(reason: "the metadata service responds with the status \(list.status)")
    }
    let response = try await get(name, client, token)
    guard response.status == 200 else {
      throw SourceFailure(reason: "the metadata service responds with the status \(response.status)")
    }
    return FetchedCredentials(credentials: try ServiceCredentials.read(response), isStable: true)
  }

  private func token(_ client: ProviderClient) async throws(SourceFailure) -> String {
    let request = Request<Content>.put("/latest/api/token")
      .field("X-aws-ec2-metadata-token-ttl-seconds", "21600")
    let response: ProviderClient.ServiceResponse
    do {
      response = try await client.send(request)
    } catch {
      // Machines other than instances have no such service.
      throw .absent("there is no metadata service, or it is more than a hop away: \(error.reason)")
    }
    guard response.status == 200, let token = response.text, !token.isEmpty, token.utf8.count <= 4096,
      token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw SourceFailure(reason: "the metadata service gives no token, status \(response.status)") }
    return token
  }

  private func get(
    _ name: String, _ client: ProviderClient, _ token: String
  ) async throws(SourceFailure) -> ProviderClient.ServiceResponse {
    let path: RequestPath =
      name.isEmpty
      ? "/latest/meta-data/iam/security-credentials/"
      : "/latest/meta-data/iam/security-credentials/\(name)"
    return try await client.send(Request<Content>.get(path).field(Self.tokenField, token, isSensitive: true))
  }
}
