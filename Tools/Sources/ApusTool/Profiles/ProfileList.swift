import Apus

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is known of profiles, as text or JSON. Nothing of it is secret.
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

  /// A line for each, in columns.
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

  /// An array with an object for each.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(entries) + Data("\n".utf8)
  }
}
