import ApusCore

/// The credentials of a container, from a URL in its environment.
struct ContainerSource: Sendable {
  let context: ProviderContext

  /// The hosts, besides loopback addresses, to which a request without TLS may be sent: those of the container
  /// services.
  private static let allowedHosts: Set = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"]
  private static let timeout = Duration.seconds(2)

  func fetch() async throws(SourceFailure) -> FetchedCredentials {
    let url = try url()
    let client = try ProviderClient(url.origin.description, timeout: Self.timeout, context)
    var request = Request<Content>.get(url.path).field("Accept", "application/json")
    if let token = try token() { request = request.field("Authorization", token, isSensitive: true) }
    let response = try await client.send(request)
    guard response.status == 200 else {
      throw SourceFailure(reason: "the container service responds with the status \(response.status)")
    }
    return FetchedCredentials(credentials: try ServiceCredentials.read(response))
  }

  private func url() throws(SourceFailure) -> URLReference {
    let environment = context.environment
    if let relative = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
      guard relative.hasPrefix("/") else {
        throw SourceFailure(reason: "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with a slash")
      }
      return try .ofService("http://169.254.170.2\(relative)")
    }
    guard let full = environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] else {
      throw .absent("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and AWS_CONTAINER_CREDENTIALS_FULL_URI are not set")
    }
    return try .ofService(full, from: "AWS_CONTAINER_CREDENTIALS_FULL_URI", withoutTLS: Self.allowedHosts)
  }

  /// Returns the token that the service requires. Its file is read for each request, because it changes.
  private func token() throws(SourceFailure) -> String? {
    var token = context.environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
    if let path = context.environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] {
      guard let text = try context.text(of: path) else {
        throw SourceFailure(reason: "there is no file \(path)")
      }
      token = text.last?.isNewline == true ? String(text.dropLast()) : text
    }
    guard token?.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) ?? true else {
      throw SourceFailure(reason: "the authorization token of the container contains characters that cannot be sent")
    }
    return token
  }
}
