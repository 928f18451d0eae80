/// The credentials in environment variables.
enum EnvironmentSource {
  static func fetch(_ environment: AWSEnvironment) throws(SourceFailure) -> FetchedCredentials {
    let (id, secret) = (environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"])
    if id == nil, secret == nil { throw .absent("AWS_ACCESS_KEY_ID is not set") }
    guard let id else { throw SourceFailure(reason: "AWS_ACCESS_KEY_ID is not set, but AWS_SECRET_ACCESS_KEY is") }
    guard let secret else { throw SourceFailure(reason: "AWS_SECRET_ACCESS_KEY is not set, but AWS_ACCESS_KEY_ID is") }
    return FetchedCredentials(
      credentials: try AWSCredentials.checked(id, secret, token: environment["AWS_SESSION_TOKEN"]))
  }
}
