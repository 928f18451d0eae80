/// The credentials of a role that is assumed with the token of an identity provider. The token is read from its file
/// for each fetch.
struct WebIdentitySource: Sendable {
  let context: ProviderContext

  /// Fetches the credentials that environment variables describe.
  func fetch() async throws(SourceFailure) -> FetchedCredentials {
    let environment = context.environment
    let (path, role) = (environment["AWS_WEB_IDENTITY_TOKEN_FILE"], environment["AWS_ROLE_ARN"])
    guard let path else { throw .absent("AWS_WEB_IDENTITY_TOKEN_FILE is not set") }
    guard let role else { throw SourceFailure(reason: "AWS_ROLE_ARN is not set") }
    return try await fetch(
      SecurityTokenService.Role(name: role, session: environment["AWS_ROLE_SESSION_NAME"]), tokenFile: path,
      region: environment.region)
  }

  func fetch(
    _ role: SecurityTokenService.Role, tokenFile path: String, region: String?
  ) async throws(SourceFailure) -> FetchedCredentials {
    guard let text = try context.text(of: path) else { throw SourceFailure(reason: "there is no file \(path)") }
    let token = text.filter { !$0.isWhitespace }
    guard !token.isEmpty else { throw SourceFailure(reason: "\(path) is empty") }
    let service = SecurityTokenService(context: context, region: region)
    return FetchedCredentials(credentials: try await service.assume(role, withWebIdentity: token))
  }
}
