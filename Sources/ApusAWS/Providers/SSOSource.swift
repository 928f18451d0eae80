import ApusCore
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The credentials of a role, obtained by the user's sign-in with `aws sso login`.
struct SSOSource: Sendable {
  /// The role, and the location of its cached sign-in.
  struct Role: Sendable {
    let account: String
    let name: String
    let region: String
    /// The name of the session, or in older profiles the URL of the sign-in.
    let cacheKey: String
  }

  private struct Cached: Decodable {
    let accessToken: String
    let expiresAt: String
  }

  private struct RoleResponse: Decodable {
    struct Credentials: Decodable {
      let accessKeyId: String?
      let secretAccessKey: String?
      let sessionToken: String?
      /// The expiration in milliseconds since 1970.
      let expiration: Double?
    }

    let roleCredentials: Credentials
  }

  let context: ProviderContext

  private static let timeout = Duration.seconds(5)
  private static let advice = "sign in with `aws sso login`"

  /// Reads the role of a profile. Returns `nil` if the profile has no role.
  static func role(_ profile: [String: String], _ profiles: ConfigProfiles) throws(SourceFailure) -> Role? {
    var settings = profile
    var key = profile["sso_start_url"]
    if let name = profile["sso_session"] {
      guard let session = profiles.session(name) else { throw SourceFailure(reason: "there is no sso-session \(name)") }
      settings.merge(session) { own, _ in own }
      key = name
    }
    guard let key else { return nil }
    guard let account = settings["sso_account_id"], let name = settings["sso_role_name"] else {
      throw SourceFailure(reason: "sso_account_id or sso_role_name is missing")
    }
    guard let region = settings["sso_region"] else { throw SourceFailure(reason: "sso_region is missing") }
    return Role(account: account, name: name, region: try RegionName.checked(region), cacheKey: key)
  }

  func fetch(_ role: Role) async throws(SourceFailure) -> FetchedCredentials {
    let token = try token(role)
    let url = try URLReference.ofService(
      "https://portal.sso.\(role.region).\(RegionName.domain(of: role.region))/federation/credentials")
    let client = try ProviderClient(url.origin.description, timeout: Self.timeout, context)
    let response = try await client.send(
      Request<Content>.get(url.path, query: ["role_name": role.name, "account_id": role.account])
        .field("x-amz-sso_bearer_token", token, isSensitive: true))
    guard response.status != 401 else {
      throw SourceFailure(reason: "the sign-in has ended; \(Self.advice)")
    }
    guard response.status == 200 else {
      throw SourceFailure(reason: "the sign-on service responds with the status \(response.status)")
    }
    guard let found = try? JSONCoding.default.decode(RoleResponse.self, from: response.content).roleCredentials else {
      throw SourceFailure(reason: "the response of the sign-on service cannot be read")
    }
    let expiration = found.expiration.map { response.local(Date(timeIntervalSince1970: $0 / 1000)) }
    return FetchedCredentials(
      credentials: try AWSCredentials.checked(
        found.accessKeyId, found.secretAccessKey, token: found.sessionToken, expiration: expiration))
  }

  private func token(_ role: Role) throws(SourceFailure) -> String {
    guard let home = context.environment.home else { throw SourceFailure(reason: "the home folder is unknown") }
    var name = CanonicalText(capacity: 40)
    name.append(hexadecimal: Insecure.SHA1.hash(data: Data(role.cacheKey.utf8)))
    let text = try context.text(of: "\(home)/.aws/sso/cache/\(name.string).json")
    guard let text else { throw SourceFailure(reason: "there is no sign-in; \(Self.advice)") }
    guard let cached = try? JSONCoding.default.decode(Cached.self, from: Data(text.utf8)),
      let end = Date.ofService(cached.expiresAt), cached.accessToken.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw SourceFailure(reason: "the cached sign-in cannot be read; \(Self.advice)") }
    guard end > context.environment.now() else {
      throw SourceFailure(reason: "the sign-in has expired; \(Self.advice)")
    }
    return cached.accessToken
  }
}
