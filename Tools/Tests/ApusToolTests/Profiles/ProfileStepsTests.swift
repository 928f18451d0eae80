import Apus
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ApusTool

@Suite("The steps of a login")
final class ProfileStepsTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "steps-\(UUID())").path

  private var store: ProfileStore { ProfileStore(folder: ProfileFolder(path: folder)) }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  private func profile() throws -> Profile {
    Profile(
      try ProfileName("work"), origin: Origin(scheme: "https", host: "h.example", port: 443), account: .bearer,
      since: Date(timeIntervalSince1970: 1_700_000_000))
  }

  /// The state of the store when a folder is flushed to the disk.
  private struct Step: Sendable, Equatable {
    var folder: String
    var login: String?
    var hasOldCredentials: Bool
  }

  @Test("Previous credentials are removed last, after the new profile is on disk")
  func order() async throws {
    let (first, second) = (try profile(), try profile())
    let looking = self.store
    try await looking.signIn(first, with: "one")
    let steps = Mutex<[Step]>([])
    let watched = ProfileStore(folder: looking.folder) { path in
      let step = Step(
        folder: path, login: try looking.profile(first.name).login,
        hasOldCredentials: looking.hasCredentials(of: first))
      steps.withLock { $0.append(step) }
    }
    try await watched.signIn(second, with: "two")
    let seen = steps.withLock { $0 }
    #expect(
      seen == [
        Step(folder: "\(folder)/credentials", login: first.login, hasOldCredentials: true),
        Step(folder: folder, login: first.login, hasOldCredentials: true),
        Step(folder: "\(folder)/profiles", login: second.login, hasOldCredentials: true),
      ])
    #expect(!looking.hasCredentials(of: first) && looking.hasCredentials(of: second))
  }

  @Test("If the disk fails, the existing profile keeps its credentials", arguments: ["credentials", "profiles"])
  func failingDisk(place: String) async throws {
    let (first, second) = (try profile(), try profile())
    let looking = self.store
    try await looking.signIn(first, with: "one")
    let failure = OutputError(place: "\(folder)/\(place)", number: EIO)
    let watched = ProfileStore(folder: looking.folder) { path in
      if path == failure.place { throw failure }
    }
    if place == "credentials" {
      await #expect(throws: failure) { try await watched.signIn(second, with: "two") }
      #expect(
        try await looking.signedIn(first.name) == SignedIn(profile: first, credentials: .credential(.token("one"))))
    } else {
      let trouble = try await watched.signIn(second, with: "two") as? OutputError
      #expect(trouble == failure)
      #expect(
        try await looking.signedIn(first.name) == SignedIn(profile: second, credentials: .credential(.token("two"))))
    }
    #expect(looking.hasCredentials(of: first))
  }

  @Test("Previous credentials that cannot be removed do not prevent a login")
  func leftOver() async throws {
    let store = store
    let (first, second) = (try profile(), try profile())
    try await store.signIn(first, with: "one")
    // A folder cannot be removed like a file.
    let obstacle = store.folder.credentials(of: first.name, login: first.login) + "/obstacle"
    try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
    let trouble = try await store.signIn(second, with: "two") as? OutputError
    #expect(trouble?.place == obstacle)
    #expect(try await store.signedIn(first.name) == SignedIn(profile: second, credentials: .credential(.token("two"))))
  }

  @Test("Encrypted credentials are valid only for their own profile")
  func sealed() async throws {
    let store = store
    let (first, second) = (try profile(), try profile())
    try await store.signIn(first, with: "one")
    let path = store.folder.secret(of: first.name, login: first.login)
    let sealed = try Data(contentsOf: URL(filePath: path))
    try await store.signIn(second, with: "two")
    let place = store.folder.secret(of: second.name, login: second.login)
    try sealed.write(to: URL(filePath: place))
    chmod(place, 0o600)
    let reason = "its credentials belong to something else"
    let damaged = ProfileError.damaged(second.name, path: store.folder.profile(second.name), reason: reason)
    await #expect(throws: damaged) { try await store.signedIn(second.name) }
  }

  @Test(
    "A folder for secrets must be accessible only to its owner",
    arguments: [
      (0o40700, 7, nil), (0o40500, 7, nil), (0o40750, 7, .openFolder("/a")), (0o40701, 7, .openFolder("/a")),
      (0o40777, 7, .openFolder("/a")), (0o41777, 7, .openFolder("/a")), (0o40700, 0, .foreignFolder("/a")),
    ] as [(mode_t, uid_t, ProfileError?)])
  func refusal(mode: mode_t, owner: uid_t, error: ProfileError?) {
    #expect(PrivateFile.refusal(of: "/a", mode: mode, owner: owner, to: 7) == error)
  }
}
