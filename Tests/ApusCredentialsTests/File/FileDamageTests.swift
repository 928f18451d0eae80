import ApusFiles
import ApusMiddleware
import Foundation
import Testing

@testable import ApusCredentials

@Suite("Damaged credentials files and wrong keys")
struct FileDamageTests {
  private let tokens = Credential.tokens(Tokens(access: "access", refresh: "refresh", lifetime: .seconds(3600)))

  /// Returns the possible errors if the byte at an index is wrong.
  private func reasons(at index: Int, hasPassphrase: Bool) -> Set<CredentialsStoreError.Problem> {
    switch index {
    case ..<9: [.unknownFormat]
    // The byte states the kind of the key. The changed byte states a different or an unknown kind.
    case 9: [.unknownFormat, .keyKindMismatch]
    // The number of rounds exceeds the maximum.
    case 10 where hasPassphrase: [.unknownFormat]
    default: [.wrongKeyOrDamaged]
    }
  }

  @Test("A flipped bit anywhere in the file is an error, and the file stays", arguments: [false, true])
  func flipped(hasPassphrase: Bool) async throws {
    try await CredentialsFolder.with { place in
      let key = hasPassphrase ? CredentialsFileKey.passphrase("correct horse") : .file(place.keyFile)
      try await place.store(key: key).set(tokens)
      let whole = try place.bytes()
      for index in whole.indices {
        // The high bits would request millions of rounds, which take a long time.
        let bits: [UInt8] = hasPassphrase && index == 11 ? [0x01] : [0x01, 0x80]
        for bit in bits {
          var damaged = whole
          damaged[index] ^= bit
          try place.put(damaged)
          let store = place.store(key: key)
          let read = await reason { _ = try await store.current() }
          let written = await reason { try await store.set(.token("new")) }
          let isExpected = read.map { reasons(at: index, hasPassphrase: hasPassphrase).contains($0) }
          #expect(isExpected == true, "\(index)")
          #expect(written == read, "\(index)")
          #expect(try place.bytes() == damaged)
        }
      }
      try place.put(whole)
      let stored = try await place.store(key: key).current()
      #expect(stored.credential == tokens)
    }
  }

  @Test("A file that is too short or too long by any number of bytes is an error")
  func cut() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(tokens)
      let whole = try place.bytes()
      for count in 0..<whole.count {
        try place.put(Array(whole.prefix(count)))
        let found = await reason { _ = try await place.store().current() }
        #expect(found == (count < 30 ? .unknownFormat : .wrongKeyOrDamaged), "\(count)")
      }
      for count in [1, 16, 10_000] {
        try place.put(whole + Array(repeating: 0, count: count))
        let found = await reason { _ = try await place.store().current() }
        #expect(found == .wrongKeyOrDamaged)
      }
    }
  }

  @Test("Another file's content is refused, even if it is sealed with the same key")
  func foreign() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(tokens)
      let sealed = try place.bytes()
      let header = try #require(SealHeader(of: sealed))
      let key = try FilePath(place.keyFile).key(isNew: false)
      for content in ["", "{}", "[]", #"{"version":2,"generation":1,"principal":1,"since":0,"kind":"none"}"#] {
        try place.put(try header.sealed(Data(content.utf8), with: key))
        let found = await reason { _ = try await place.store().current() }
        #expect(found == .unknownFormat)
      }
      for content in ["", "{}", "access_token=secret"] {
        try place.put(Array(content.utf8))
        let found = await reason { _ = try await place.store().current() }
        #expect(found == .unknownFormat)
      }
    }
  }

  @Test("A wrong key is an error, and the file stays unchanged")
  func otherKey() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(tokens)
      let whole = try place.bytes()
      let other = place.folder + "/other"
      try place.put(Array("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n".utf8), in: other)
      let rows: [(CredentialsFileKey, CredentialsStoreError.Problem)] = [
        (.file(other), .wrongKeyOrDamaged), (.passphrase("a passphrase"), .keyKindMismatch),
        (.file(place.folder + "/none"), .keyMissing),
      ]
      for (key, expected) in rows {
        let store = place.store(key: key)
        let calls: [@Sendable () async throws -> Void] = [
          { _ = try await store.current() }, { try await store.set(.token("new")) }, { try await store.clear() },
          { _ = try await store.refresh(0, to: nil) },
        ]
        for call in calls {
          let found = await reason(call)
          #expect(found == expected)
        }
        #expect(try place.bytes() == whole)
      }
      #expect(!place.exists(place.folder + "/none"))
    }
  }

  @Test("A file sealed with a passphrase is not opened by another passphrase or a key file")
  func otherPassphrase() async throws {
    try await CredentialsFolder.with { place in
      try await place.store(key: .passphrase("correct horse")).set(tokens)
      let wrong = await reason { _ = try await place.store(key: .passphrase("correct hors")).current() }
      #expect(wrong == .wrongKeyOrDamaged)
      let kind = await reason { _ = try await place.store().current() }
      #expect(kind == .keyKindMismatch)
      let right = try await place.store(key: .passphrase("correct horse")).current()
      #expect(right.credential == tokens)
    }
  }

  @Test("A file that is too large is neither read nor written, and the old credentials stay")
  func tooLarge() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(tokens)
      let written = await reason {
        try await store.set(.token(Secret(String(repeating: "a", count: 1 << 20))))
      }
      #expect(written == .tooLarge)
      let kept = try await place.store().current()
      #expect(kept.credential == tokens)
      try place.put(Array(repeating: 0, count: 1 << 20 + 1))
      let read = await reason { _ = try await place.store().current() }
      #expect(read == .fileTooLarge)
    }
  }

  @Test("A store works again once its file is restored")
  func repaired() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(tokens)
      let whole = try place.bytes()
      try place.put([1, 2, 3])
      let found = await reason { _ = try await store.current() }
      #expect(found == .unknownFormat)
      try place.put(whole)
      let stored = try await store.current()
      #expect(stored.credential == tokens)
    }
  }
}
