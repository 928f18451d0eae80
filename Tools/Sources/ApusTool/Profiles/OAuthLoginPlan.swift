import Apus
import ApusOAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The command line of `apus login --oauth`.
struct OAuthLoginPlan: Sendable, Hashable {
  var name: ProfileName
  /// The only server that gets the tokens.
  var origin: Origin
  /// The URL of the authorization server.
  var issuer: String
  var clientID: String
  var scopes: [String]
  /// The port of the redirect on this machine; 0 for any.
  var port: UInt16 = 0
  /// Whether the user signs in on another device.
  var isOnAnotherDevice = false
  /// Whether the tokens are bound to a key (RFC 9449).
  var bindsTokens = false
}

/// The execution of `apus login --oauth`.
struct OAuthLogin: Sendable {
  let plan: OAuthLoginPlan
  let connection: ConnectionPlan
  let store: ProfileStore
  /// The input with the client's secret; `nil` for a client without one.
  let secret: SecretInput?
  let output: DescriptorWriter
  let error: DescriptorWriter
  /// Returns the current time.
  var now: @Sendable () -> Date = { Date() }

  /// Signs in and stores the tokens.
  func run() async -> ExitStatus {
    do {
      let secret = try await secret?.read(prompt: "Secret of the client \(plan.clientID): ", messages: error)
      let sender = try await connection.client(ofAuthorizationServer: plan.issuer)
      var client = OAuthClient(
        id: plan.clientID, server: try await .discover(plan.issuer, using: sender), using: sender)
      client.bindsTokens = plan.bindsTokens
      client.authentication = secret.map { .basic($0) } ?? .none
      let grant = try await grant(by: client)
      let profile = Profile(
        plan.name, origin: plan.origin, account: .oauth(user: grant.identity?.accountName), since: now())
      let trouble = try await store.signIn(
        profile, with: try OAuthSession(client, secret: secret).encoded(), grant.tokens)
      let user = profile.account.user.map { " as \($0)" } ?? ""
      let text = TerminalText.harmless("\(plan.name): signed in to \(plan.origin)\(user)", keepsLines: false)
      try await output.writeToTheEnd(Data("\(text)\n".utf8))
      if !grant.missingScopes.isEmpty {
        let scopes = grant.missingScopes.joined(separator: " ")
        await error.writeMessage(Complaint(sentence: "The server has not granted these scopes: \(scopes)").text)
      }
      if let trouble { await error.writeMessage(Ending(trouble).remaining(of: plan.name)) }
      return .accepted
    } catch {
      return await Ending(error).reported(on: self.error)
    }
  }

  private func grant(by client: OAuthClient) async throws(OAuthError) -> OAuthGrant {
    guard plan.isOnAnotherDevice else {
      let browser = PrintingBrowser { [error] in error.enqueue(TerminalText.harmless("\($0)\n")) }
      return try await client.signIn(scopes: plan.scopes, redirect: .loopback(port: plan.port), browser: browser)
    }
    return try await client.signInOnAnotherDevice(scopes: plan.scopes) { prompt in
      var text = "Open \(prompt.page) on any device and enter the code \(prompt.userCode)"
      if let page = prompt.completePage { text += ", or open \(page)" }
      // A newline in the text could begin a line that looks like a message of the tool.
      await error.writeMessage(TerminalText.harmless(text + ".", keepsLines: false) + "\n")
    }
  }
}

extension IDToken {
  /// The most readable name of the account: an email address, a user name or the server's ID.
  var accountName: String? {
    [email, self["preferred_username"], name, subject].lazy.compactMap(\.self).first { Account.isName($0) }
  }
}
