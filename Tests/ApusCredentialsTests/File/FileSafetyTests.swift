import ApusMiddleware
import Foundation
import Testing

@testable import ApusCredentials

@Suite("Permissions of credentials files")
struct FileSafetyTests {
  private typealias Problem = CredentialsStoreError.Problem

  /// Returns the problems that prevent a store from reading and from writing.
  private func found(in place: CredentialsFolder) async -> (read: Problem?, written: Problem?) {
    let store = place.store()
    let read = await reason { _ = try await store.current() }
    let written = await reason { try await store.set(.token("new")) }
    return (read, written)
  }

  @Test("A file that others can read or write is refused", arguments: [0o640, 0o604, 0o620, 0o602, 0o660, 0o601])
  func file(mode: Int) async throws {
    try await CredentialsFolder.with { place in
      let early = place.store()
      try await early.set(.token("token"))
      #expect(chmod(place.file, mode_t(mode)) == 0)
      let (read, written) = await found(in: place)
      #expect(read == .accessibleToOthers && written == .accessibleToOthers)
      // A store that has cached the file detects the changed permissions, too.
      let noticed = await reason { _ = try await early.current() }
      #expect(noticed == .accessibleToOthers)
    }
  }

  @Test("A folder that others can list or write to is refused", arguments: [0o755, 0o770, 0o711, 0o702])
  func folder(mode: Int) async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(.token("token"))
      #expect(chmod(place.folder, mode_t(mode)) == 0)
      let (read, written) = await found(in: place)
      #expect(read == .accessibleToOthers && written == .accessibleToOthers)
    }
  }

  @Test("A key that others can read is refused, and no file is sealed with it")
  func key() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(.token("token"))
      #expect(chmod(place.keyFile, 0o644) == 0)
      let (read, written) = await found(in: place)
      #expect(read == .accessibleToOthers && written == .accessibleToOthers)
      try FileManager.default.removeItem(atPath: place.file)
      let new = await reason { try await place.store().set(.token("new")) }
      #expect(new == .accessibleToOthers)
      #expect(!place.exists(place.file))
    }
  }

  @Test(
    "A file, a folder or a key of another user is refused",
    .enabled(if: geteuid() == 0, "root alone can give files away"))
  func owner() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(.token("token"))
      for path in [place.file, place.folder, place.keyFile] {
        #expect(chown(path, 54_321, 54_321) == 0)
        let (read, written) = await found(in: place)
        #expect(read == .foreignOwner && written == .foreignOwner, "\(path)")
        #expect(chown(path, 0, 0) == 0)
      }
      let stored = try await place.store().current()
      #expect(stored.credential == .token("token"))
    }
  }

  @Test("A link in place of a file is not followed", arguments: ["credentials", "credentials.lock", "key"])
  func link(name: String) async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(.token("token"))
      let (path, target) = (place.folder + "/" + name, place.folder + "/elsewhere")
      try FileManager.default.moveItem(atPath: path, toPath: target)
      #expect(symlink(target, path) == 0)
      let before = try place.bytes(target)
      let (read, written) = await found(in: place)
      #expect(read == (name == "credentials.lock" ? nil : .notAFile))
      #expect(written == .notAFile)
      #expect(try place.bytes(target) == before)
    }
  }

  @Test("A folder or a pipe in place of the file is an error, and does not block")
  func noFile() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(.token("token"))
      try FileManager.default.removeItem(atPath: place.file)
      #expect(mkdir(place.file, 0o700) == 0)
      let (read, written) = await found(in: place)
      #expect(read == .notAFile && written == .notAFile)
      #expect(rmdir(place.file) == 0)
      #expect(mkfifo(place.file, 0o600) == 0)
      let (piped, pipedInto) = await found(in: place)
      #expect(piped == .notAFile && pipedInto == .notAFile)
    }
  }

  @Test("A path without a file name is an error", arguments: ["", "/", "/tmp/", ".", "/tmp/..", "/tmp/a\0b"])
  func noName(path: String) async throws {
    let store = FileCredentialsStore(at: path, key: .passphrase("passphrase"))
    let read = await reason { _ = try await store.current() }
    let written = await reason { try await store.set(.token("new")) }
    #expect(read == .notAFile && written == .notAFile)
  }

  @Test("A secret is contained only in the sealed file, where it is unreadable, and in no error or dump")
  func secrets() async throws {
    let secret = "s3nt1nel-SECRET"
    try await CredentialsFolder.with { place in
      for key in [CredentialsFileKey.file(place.keyFile), .passphrase(Secret(secret))] {
        let store = place.store(key: key)
        let credentials: [Credential] = [
          .token(Secret(secret)), .password(user: secret, Secret(secret)),
          .tokens(Tokens(access: Secret(secret), refresh: Secret(secret))),
        ]
        for credential in credentials {
          try await store.set(credential)
          for name in try FileManager.default.contentsOfDirectory(atPath: place.folder) {
            let content = Data(try place.bytes(place.folder + "/" + name))
            #expect(content.range(of: Data(secret.utf8)) == nil, "\(name)")
          }
        }
        let stored = try await store.current()
        for text in [texts(of: store), texts(of: key), texts(of: stored)] { #expect(!text.contains(secret)) }
        try place.put(try place.bytes() + [0])
        do {
          _ = try await store.current()
          Issue.record("it was read")
        } catch {
          #expect(!texts(of: error).contains(secret))
        }
        try FileManager.default.removeItem(atPath: place.file)
      }
    }
  }
}
