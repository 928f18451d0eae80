import Apus
import ApusOAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The execution of `apus logout`.
struct Logout: Sendable {
  /// The profile; `nil` for all.
  let name: ProfileName?
  let store: ProfileStore
  /// The connections to authorization servers.
  let connection: ConnectionPlan
  let output: DescriptorWriter
  let error: DescriptorWriter

  /// Removes profiles and their credentials, and revokes tokens that were issued to the tool.
  func run() async -> ExitStatus {
    do {
      if let name {
        try await signOut(name)
        return .accepted
      }
      return try await signOutOfAll()
    } catch {
      return await Ending(error).reported(on: self.error)
    }
  }

  /// Removes the credentials first: an unreachable authorization server does not prevent a logout.
  private func signOut(_ name: ProfileName) async throws {
    // Unreadable credentials are removed, too.
    let issued = try? await issuedTokens(of: name)
    try Task.checkCancellation()
    try await store.signOut(name)
    guard let (session, tokens) = issued else { return try await printLine("\(name): signed out") }
    guard session.revocationEndpoint != nil else {
      return try await printLine("\(name): signed out on this machine; the server cannot revoke tokens")
    }
    do {
      let sender = try await connection.client(ofAuthorizationServer: session.tokenEndpoint)
      try await session.client(using: sender).revoke(tokens)
    } catch {
      try await printLine("\(name): signed out on this machine; the tokens were not revoked")
      throw error
    }
    try await printLine("\(name): signed out, tokens revoked")
  }

  /// Returns the tokens that an authorization server issued for a profile; `nil` for other profiles.
  private func issuedTokens(of name: ProfileName) async throws -> (OAuthSession, Tokens)? {
    guard case .oauth(let session, let file) = try await store.signedIn(name).credentials,
      case .tokens(let tokens)? = try await file.currentTokens().credential
    else { return nil }
    return (session, tokens)
  }

  private func printLine(_ text: String) async throws {
    try await output.writeToTheEnd(Data("\(text)\n".utf8))
  }

  /// Signs out of all profiles. Continues after a profile that cannot be removed.
  private func signOutOfAll() async throws -> ExitStatus {
    let names = try store.everyName()
    if names.isEmpty { try await error.writeToTheEnd(Data(store.emptiness.utf8)) }
    var status = ExitStatus.accepted
    for name in names {
      do {
        try await signOut(name)
      } catch ProfileError.unknown {
        // The credentials have no profile, or another process has removed the profile meanwhile.
        continue
      } catch {
        status = await Ending(error).reported(on: self.error)
        if Task.isCancelled { break }
      }
    }
    return status
  }
}
