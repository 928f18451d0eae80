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

  /// Prints the profiles. A damaged profile is reported, and the others are still printed.
  func run() async -> ExitStatus {
    do {
      var status = ExitStatus.accepted
      var list = ProfileList()
      for name in try name.map({ [$0] }) ?? store.names() {
        do {
          let profile = try store.profile(name)
          list.append(profile, isSignedIn: store.hasCredentials(of: profile))
        } catch {
          status = await Ending(error).reported(to: self.error)
        }
      }
      try await output.writeToTheEnd(isJSON ? list.json() : Data(list.text.utf8))
      if list.isEmpty, status == .accepted, !isJSON {
        try await error.writeToTheEnd(Data(store.emptiness.utf8))
      }
      return status
    } catch {
      return await Ending(error).reported(to: self.error)
    }
  }
}

/// A list of profiles as text or JSON; contains no secrets.
struct ProfileList: Sendable {
  private struct Entry: Sendable, Encodable {
    var name: String
    var scheme: String
    var origin: String
    var user: String?
    var since: String
    var signedIn: Bool
  }

  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  mutating func append(_ profile: Profile, isSignedIn: Bool) {
    entries.append(
      Entry(
        name: profile.name.description, scheme: profile.account.scheme, origin: profile.origin.description,
        user: profile.account.user, since: Date.ISO8601FormatStyle().format(profile.since), signedIn: isSignedIn))
  }

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
      text += entry.signedIn ? "since \(entry.since)\n" : "signed out\n"
    }
    return text
  }

  /// Encodes an array with an object for each profile.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(entries) + Data("\n".utf8)
  }
}
