/// The credentials of a profile: its own keys, an assumed role, a sign-in, or a program.
struct ProfileSource: Sendable {
  /// The maximum depth of profiles that refer to each other.
  private static let maximumDepth = 8

  let context: ProviderContext

  private var environment: AWSEnvironment { context.environment }

  /// Fetches the credentials of the environment's profile, or of `default`.
  func fetch() async throws(SourceFailure) -> FetchedCredentials {
    let profiles: ConfigProfiles
    do {
      profiles = try ConfigProfiles(of: environment)
    } catch {
      throw SourceFailure(reason: error.description)
    }
    let named = environment.profile ?? environment["AWS_PROFILE"]
    let name = named ?? "default"
    guard profiles.profile(name) != nil else {
      let reason = "there is no profile \(name)"
      throw named == nil ? .absent(reason) : SourceFailure(reason: reason)
    }
    return try await credentials(of: name, profiles, after: [])
  }

  /// - Parameter path: the profiles that refer to this profile, directly or indirectly.
  private func credentials(
    of name: String, _ profiles: ConfigProfiles, after path: [String]
  ) async throws(SourceFailure) -> FetchedCredentials {
    let chain = path + [name]
    let shown = chain.joined(separator: " → ")
    guard !path.contains(name) else { throw SourceFailure(reason: "the profiles name one another: \(shown)") }
    guard chain.count <= Self.maximumDepth else { throw SourceFailure(reason: "too many profiles: \(shown)") }
    guard let profile = profiles.profile(name) else { throw SourceFailure(reason: "there is no profile \(shown)") }
    do {
      if let role = profile["role_arn"] { return try await assume(role, profile, profiles, chain) }
      if let role = try SSOSource.role(profile, profiles) {
        return try await SSOSource(context: context).fetch(role)
      }
      if let keys = try Self.keys(profile) { return keys }
      if let command = profile["credential_process"] {
        return try await ProcessSource(environment: environment).fetch(command)
      }
    } catch {
      // The error of the inner profile already contains the profile's name.
      throw error.reason.hasPrefix("profile ") || error.reason.contains(" → ")
        ? error : SourceFailure(reason: "profile \(shown): \(error.reason)")
    }
    let reason = "the profile \(shown) has no credentials"
    throw path.isEmpty && environment.profile == nil && environment["AWS_PROFILE"] == nil
      ? .absent(reason) : SourceFailure(reason: reason)
  }

  private static func keys(_ profile: [String: String]) throws(SourceFailure) -> FetchedCredentials? {
    let (id, secret) = (profile["aws_access_key_id"], profile["aws_secret_access_key"])
    if id == nil, secret == nil { return nil }
    return FetchedCredentials(
      credentials: try AWSCredentials.checked(id, secret, token: profile["aws_session_token"]))
  }

  private func assume(
    _ name: String, _ profile: [String: String], _ profiles: ConfigProfiles, _ chain: [String]
  ) async throws(SourceFailure) -> FetchedCredentials {
    let role = SecurityTokenService.Role(
      name: name, session: profile["role_session_name"], externalID: profile["external_id"],
      seconds: profile["duration_seconds"])
    let region = profile["region"] ?? environment.region
    if let file = profile["web_identity_token_file"] {
      return try await WebIdentitySource(context: context).fetch(role, tokenFile: file, region: region)
    }
    guard profile["mfa_serial"] == nil else {
      throw SourceFailure(reason: "the role needs a code of a device (mfa_serial), for which nobody can be asked")
    }
    let source = try await source(profile, profiles, chain)
    let service = SecurityTokenService(context: context, region: region)
    return FetchedCredentials(credentials: try await service.assume(role, with: source.credentials))
  }

  /// Fetches the credentials with which a profile assumes its role.
  private func source(
    _ profile: [String: String], _ profiles: ConfigProfiles, _ chain: [String]
  ) async throws(SourceFailure) -> FetchedCredentials {
    if let name = profile["source_profile"] {
      guard profile["credential_source"] == nil else {
        throw SourceFailure(reason: "source_profile and credential_source are both set")
      }
      // A profile whose source profile is itself uses its own keys.
      if name == chain.last {
        guard let keys = try Self.keys(profile) else { throw SourceFailure(reason: "it names itself, without keys") }
        return keys
      }
      return try await credentials(of: name, profiles, after: chain)
    }
    switch profile["credential_source"] {
    case "Environment"?: return try EnvironmentSource.fetch(environment)
    case "EcsContainer"?: return try await ContainerSource(context: context).fetch()
    case "Ec2InstanceMetadata"?: return try await InstanceSource(context: context).fetch()
    case let other?: throw SourceFailure(reason: "credential_source \(ErrorName.printable(other)) is not known")
    case nil: throw SourceFailure(reason: "role_arn is set without source_profile and credential_source")
    }
  }
}
