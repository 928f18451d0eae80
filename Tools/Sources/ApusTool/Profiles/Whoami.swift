import Apus

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The execution of `apus whoami`.
struct Whoami: Sendable {
  /// The profile; `nil` for all.
  let name: ProfileName?
  let isJSON: Bool
  let store: ProfileStore
  let output: DescriptorWriter
  let error: DescriptorWriter
  /// Returns the current time.
  var now: @Sendable () -> Date = { Date() }

  /// Returns the state of a profile's credentials. Does not read tokens and passwords that the user entered.
  private func state(of profile: Profile) async throws -> ProfileList.State {
    guard store.hasCredentials(of: profile) else { return .signedOut }
    guard case .oauth = profile.account else { return .signedIn }
    do {
      guard case .oauth(let session, let file) = try await store.signedIn(profile.name).credentials else {
        return .signedOut
      }
      let stored = try await file.currentTokens()
      guard case .tokens(let tokens)? = stored.credential else { return .signedOut }
      return .issued(
        by: session, tokens, until: stored.remaining.map { now().addingTimeInterval($0 / .seconds(1)) })
    } catch ProfileError.signedOut {
      return .signedOut
    }
  }

  /// Prints the profiles. A damaged profile is reported, and the other profiles are still printed.
  func run() async -> ExitStatus {
    do {
      var status = ExitStatus.accepted
      var list = ProfileList()
      for name in try name.map({ [$0] }) ?? store.names() {
        do {
          let profile = try store.profile(name)
          list.append(profile, try await state(of: profile))
        } catch {
          status = await Ending(error).reported(on: self.error)
        }
      }
      try await output.writeToTheEnd(isJSON ? list.json() : Data(list.text.utf8))
      if list.isEmpty, status == .accepted, !isJSON {
        try await error.writeToTheEnd(Data(store.emptiness.utf8))
      }
      return status
    } catch {
      return await Ending(error).reported(on: self.error)
    }
  }
}

/// A list of profiles as text or JSON; contains no secrets.
struct ProfileList: Sendable {
  /// The state of a profile's credentials.
  enum State: Sendable {
    case signedOut
    case signedIn
    /// Tokens of an authorization server, with the expiration of the access token; `nil` if it is unknown.
    case issued(by: OAuthSession, Tokens, until: Date?)
  }

  private struct Entry: Sendable, Encodable {
    var name: String
    var scheme: String
    var origin: String
    var user: String?
    var since: String
    var signedIn: Bool
    /// The following members exist only for OAuth.
    var issuer: String?
    var scopes: [String]?
    /// The expiry of the access token.
    var expires: String?
    /// Whether the access token is refreshed.
    var refreshes: Bool?

    /// The end of the profile's line of text.
    var state: String {
      guard signedIn else { return "signed out" }
      guard let refreshes else { return "since \(since)" }
      let expiry = expires.map { refreshes ? ", next refresh by \($0)" : ", expires \($0)" } ?? ""
      return "since \(since)\(expiry)"
    }
  }

  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  mutating func append(_ profile: Profile, _ state: State) {
    var entry = Entry(
      name: profile.name.description, scheme: profile.account.scheme, origin: profile.origin.description,
      user: profile.account.user, since: Self.text(profile.since), signedIn: true)
    switch state {
    case .signedOut: entry.signedIn = false
    case .signedIn: break
    case .issued(let session, let tokens, let expiry):
      (entry.issuer, entry.scopes, entry.refreshes) = (session.issuer, tokens.scopes, tokens.refresh != nil)
      entry.expires = expiry.map { Self.text($0) }
    }
    entries.append(entry)
  }

  private static func text(_ date: Date) -> String { Date.ISO8601FormatStyle().format(date) }

  /// A line for each profile, in columns.
  var text: String {
    let rows = entries.map { entry in
      [entry.name, entry.scheme, entry.origin, entry.user ?? "-"]
    }
    let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
    var text = ""
    for (entry, row) in zip(entries, rows) {
      for (cell, width) in zip(row, widths) {
        text += cell + String(repeating: " ", count: width - cell.count + 2)
      }
      text += entry.state + "\n"
    }
    return TerminalText.harmless(text)
  }

  /// Encodes an array with an object for each profile.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(entries) + Data("\n".utf8)
  }
}
