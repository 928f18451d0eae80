import ApusCore

/// The credentials of the role of an instance, from its metadata service, version 2.
///
/// Version 1, without a token, is never used: a server that can be made to send a GET request must not reveal credentials.
/// The service lets its response travel one hop only, so in a container the request for the token may time out.
struct InstanceSource: Sendable {
  let context: ProviderContext

  /// The limit of each request: where there is no such service, nothing may answer.
  private static let timeout = Duration.seconds(1)
  /// The addresses, besides loopback ones, to which a request without TLS may go.
  private static let allowedHosts: Set = ["169.254.169.254", "[fd00:ec2::254]"]
  private static let tokenField = "X-aws-ec2-metadata-token"

  func fetch() async throws(SourceFailure) -> FetchedCredentials {
    let environment = context.environment
    if environment["AWS_EC2_METADATA_DISABLED"]?.lowercased() == "true" {
      throw .absent("AWS_EC2_METADATA_DISABLED is true")
    }
    let isIPv6 = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]?.lowercased() == "ipv6"
    let standard = isIPv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254"
    let variable = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
    let url = try URLReference.ofService(
      environment[variable] ?? standard, from: variable, withoutTLS: Self.allowedHosts)
    let client = try ProviderClient("\(url.origin)\(url.target)", timeout: Self.timeout, context)
    let token = try await token(client)
    let list = try await get("", client, token)
    guard list.status != 404 else { throw .absent("the instance has no role") }
    guard list.status == 200, let name = list.text?.split(whereSeparator: \.isNewline).first.map({ String($0) }) else {
      throw SourceFailure(reason: "the metadata service answers with the status \(list.status)")
    }
    let answer = try await get(name, client, token)
    guard answer.status == 200 else {
      throw SourceFailure(reason: "the metadata service answers with the status \(answer.status)")
    }
    return FetchedCredentials(credentials: try ServiceCredentials.read(answer), isStable: true)
  }

  private func token(_ client: ProviderClient) async throws(SourceFailure) -> String {
    let request = Request<Content>.put("/latest/api/token")
      .field("X-aws-ec2-metadata-token-ttl-seconds", "21600")
    let answer: ProviderClient.Answer
    do {
      answer = try await client.send(request)
    } catch {
      // On any other machine there is no such service.
      throw .absent("there is no metadata service, or it is more than a hop away: \(error.reason)")
    }
    guard answer.status == 200, let token = answer.text, !token.isEmpty, token.utf8.count <= 4096,
      token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw SourceFailure(reason: "the metadata service gives no token, status \(answer.status)") }
    return token
  }

  private func get(
    _ name: String, _ client: ProviderClient, _ token: String
  ) async throws(SourceFailure) -> ProviderClient.Answer {
    let path: RequestPath =
      name.isEmpty
      ? "/latest/meta-data/iam/security-credentials/"
      : "/latest/meta-data/iam/security-credentials/\(name)"
    return try await client.send(Request<Content>.get(path).field(Self.tokenField, token, isSensitive: true))
  }
}
