import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Storing profiles")
final class ProfileStoreTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID())").path

  private var store: ProfileStore { ProfileStore(folder: ProfileFolder(path: folder)) }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  private func profile(_ name: String, _ account: Account = .bearer) throws -> Profile {
    Profile(
      try ProfileName(name), origin: Origin(scheme: "https", host: "h.example", port: 443), account: account,
      since: Date(timeIntervalSince1970: 1_700_000_000))
  }

  @Test("Stored credentials can be read, also by another store")
  func keeping() async throws {
    let store = store
    let (work, home) = (try profile("work", .basic(user: "ada")), try profile("home"))
    try await store.signIn(work, with: "secret")
    try await store.signIn(home, with: "t0ken")
    #expect(try store.names() == [home.name, work.name])
    let other = ProfileStore(folder: ProfileFolder(path: folder))
    let credential = Credential.password(user: "ada", "secret")
    #expect(try await other.signedIn(work.name) == SignedIn(profile: work, credentials: .credential(credential)))
    #expect(try await other.signedIn(home.name) == SignedIn(profile: home, credentials: .credential(.token("t0ken"))))
  }

  @Test("A new login replaces credentials, including leftovers")
  func replacing() async throws {
    let store = store
    let (first, second) = (try profile("work"), try profile("work"))
    try await store.signIn(first, with: "one")
    try await store.signIn(second, with: "two")
    #expect(try await store.signedIn(first.name) == SignedIn(profile: second, credentials: .credential(.token("two"))))
    #expect(!store.hasCredentials(of: first) && store.hasCredentials(of: second))
  }

  @Test("A logout removes profile and credentials")
  func signingOut() async throws {
    let store = store
    let (work, home) = (try profile("work"), try profile("work.home"))
    try await store.signIn(work, with: "one")
    try await store.signIn(home, with: "two")
    try await store.signOut(work.name)
    let unknown = ProfileError.unknown(work.name, folder: folder)
    await #expect(throws: unknown) { try await store.signedIn(work.name) }
    await #expect(throws: unknown) { try await store.signOut(work.name) }
    #expect(!store.hasCredentials(of: work))
    #expect(try store.names() == [home.name])
    #expect(try await store.signedIn(home.name).credentials == .credential(.token("two")))
  }

  @Test("Reading an empty store creates no files")
  func looking() async throws {
    let store = store
    let name = try ProfileName("work")
    #expect(try store.names() == [])
    #expect(try store.everyName() == [])
    await #expect(throws: ProfileError.unknown(name, folder: folder)) { try await store.signedIn(name) }
    await #expect(throws: ProfileError.unknown(name, folder: folder)) { try await store.signOut(name) }
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test("A damaged profile is an error with its path, and can be removed")
  func damaged() async throws {
    let store = store
    let work = try profile("work")
    try await store.signIn(work, with: "one")
    let path = store.folder.profile(work.name)
    try Data("{}".utf8).write(to: URL(filePath: path))
    await #expect(throws: ProfileError.damaged(work.name, path: path, reason: "origin is missing")) {
      try await store.signedIn(work.name)
    }
    try await store.signOut(work.name)
    #expect(try store.everyName() == [])
  }

  @Test("A profile without credentials is signed out")
  func gone() async throws {
    let store = store
    let work = try profile("work")
    try await store.signIn(work, with: "one")
    try FileManager.default.removeItem(atPath: store.folder.credentials(of: work.name, login: work.login))
    await #expect(throws: ProfileError.signedOut(work.name, work.origin)) {
      try await store.signedIn(work.name)
    }
    #expect(!store.hasCredentials(of: work))
  }

  @Test("A credentials folder without its file is treated as no credentials")
  func emptied() async throws {
    let store = store
    let work = try profile("work")
    try await store.signIn(work, with: "one")
    try FileManager.default.removeItem(atPath: store.folder.secret(of: work.name, login: work.login))
    #expect(!store.hasCredentials(of: work))
    await #expect(throws: ProfileError.signedOut(work.name, work.origin)) { try await store.signedIn(work.name) }
  }

  @Test("A failed login leaves the profile unchanged and no other files")
  func failing() async throws {
    let store = store
    let (first, second) = (try profile("work"), try profile("work"))
    try await store.signIn(first, with: "one")
    // The file that is written last cannot be written, because a folder has its name.
    let obstacle = store.folder.profile(first.name) + ".part"
    try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
    await #expect(throws: OutputError.self) { try await store.signIn(second, with: "two") }
    #expect(!store.hasCredentials(of: second))
    #expect(try await store.signedIn(first.name) == SignedIn(profile: first, credentials: .credential(.token("one"))))
  }

  @Test("Concurrent logins and logouts leave only the result of the last", arguments: 0..<3)
  func atOnce(round: Int) async throws {
    let store = store
    let profiles = try (0..<8).map { _ in try profile("work") }
    try await withThrowingDiscardingTaskGroup { group in
      for profile in profiles {
        group.addTask { try await store.signIn(profile, with: Secret(profile.login)) }
      }
    }
    let kept = try await store.signedIn(profiles[0].name)
    #expect(kept.credentials == .credential(.token(Secret(kept.profile.login))))
    #expect(profiles.filter { store.hasCredentials(of: $0) } == [kept.profile])
  }

  @Test("A read during a login returns either the old or the new credentials")
  func reading() async throws {
    let store = store
    let first = try profile("work")
    try await store.signIn(first, with: Secret(first.login))
    let profiles = try (0..<20).map { _ in try profile("work") }
    async let signingIn: Void = {
      for profile in profiles { try await store.signIn(profile, with: Secret(profile.login)) }
    }()
    for _ in 0..<50 {
      let kept = try await store.signedIn(first.name)
      #expect(kept.credentials == .credential(.token(Secret(kept.profile.login))))
    }
    try await signingIn
  }
}
