import ApusFiles
import ApusMiddleware
import Crypto
import Foundation
import Testing

@testable import ApusCredentials

@Suite("Keys of credentials files")
struct CredentialsFileKeyTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    let passphrase: Secret
    let salt: String
    let rounds: UInt32
    let key: String

    var testDescription: String { "\(salt), \(rounds) rounds" }

    static let all = [
      // RFC 7914 §11; the key is the first half of its output.
      Vector(
        passphrase: "passwd", salt: "salt", rounds: 1,
        key: "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"),
      Vector(
        passphrase: "Password", salt: "NaCl", rounds: 80_000,
        key: "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"),
      // A passphrase longer than a block of the hash; computed with Python's hashlib.
      Vector(
        passphrase: Secret(String(repeating: "x", count: 65)), salt: "salt", rounds: 2,
        key: "b5a1700563b197a9ddfcdd1e02aa3bb0882203a3246ba1811de32290e7df8f7a"),
    ]
  }

  private func bytes(_ key: SymmetricKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }

  @Test("A passphrase yields the key of the published test vectors", arguments: Vector.all)
  func derived(vector: Vector) {
    let key = PassphraseKey.derive(from: vector.passphrase, salt: Array(vector.salt.utf8), rounds: vector.rounds)
    let text = bytes(key).map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }
    #expect(text.joined() == vector.key)
  }

  @Test("A passphrase key uses 600,000 rounds and a new salt for each file")
  func header() throws {
    #expect(PassphraseKey.rounds >= 600_000)
    let holder = KeyCache(.passphrase("correct horse"), rounds: PassphraseKey.rounds)
    guard case .passphrase(let salt, let rounds) = holder.newHeader() else {
      Issue.record("no passphrase")
      return
    }
    #expect(rounds == PassphraseKey.rounds && salt.count == 16)
    #expect(holder.newHeader() != .passphrase(salt: salt, rounds: rounds))
  }

  @Test("A file keeps its salt, so that the key is derived once, and no nonce is used twice")
  func salt() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store(key: .passphrase("correct horse"))
      var nonces: Set<[UInt8]> = []
      var headers: Set<[UInt8]> = []
      for _ in 0..<20 {
        try await store.set(.token("the same"))
        let file = try place.bytes()
        headers.insert(Array(file[..<30]))
        nonces.insert(Array(file[30..<42]))
      }
      #expect(nonces.count == 20)
      #expect(headers.count == 1)
    }
  }

  @Test("Tasks that create a key concurrently use the same key, and leave no other file")
  func race() async throws {
    for _ in 0..<20 {
      try await CredentialsFolder.with { place in
        let keys = try await withThrowingTaskGroup(of: SymmetricKey.self) { group in
          for _ in 0..<8 { group.addTask { try FilePath(place.keyFile).key(isNew: true) } }
          return try await group.reduce(into: [SymmetricKey]()) { $0.append($1) }
        }
        #expect(Set(keys.map { bytes($0) }).count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder) == ["key"])
      }
    }
  }

  @Test("Each key is different, of 256 bits in Base64")
  func made() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/apus-key-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let places = [FilePath(folder + "/a"), FilePath(folder + "/b")]
    let keys = try places.map { bytes(try $0.key(isNew: true)) }
    #expect(keys[0] != keys[1])
    for (place, key) in zip(places, keys) {
      let text = try String(contentsOf: URL(filePath: place.path), encoding: .utf8)
      #expect(text == Data(key).base64EncodedString() + "\n")
      #expect(CredentialsFolder.mode(of: place.path) == 0o600)
    }
  }

  @Test("A manually created key is accepted, with any surrounding white space")
  func byHand() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(.token("token"))
      let text = try String(contentsOf: URL(filePath: place.keyFile), encoding: .utf8)
      try place.put(Array(" \(text.prefix(20))\r\n\(text.dropFirst(20))\n\n".utf8), in: place.keyFile)
      let stored = try await place.store().current()
      #expect(stored.credential == .token("token"))
    }
  }

  @Test(
    "An invalid key is refused and not replaced",
    arguments: ["", "AAAA", "not base64 at all", String(repeating: "A", count: 42), String(repeating: "A", count: 64)])
  func malformed(text: String) async throws {
    try await CredentialsFolder.with { place in
      try FileManager.default.createDirectory(
        atPath: place.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try place.put(Array(text.utf8), in: place.keyFile)
      let found = await reason { try await place.store().set(.token("token")) }
      #expect(found == .malformedKey)
      #expect(try place.bytes(place.keyFile) == Array(text.utf8))
    }
  }

  @Test("When the key is first used, drafts of dead processes are removed, but no other files")
  func leftBehind() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(.token("token"))
      try FileManager.default.removeItem(atPath: place.file)
      #expect(link(place.keyFile, place.keyFile + ".draft-0123456789abcdef") == 0)
      try place.put([], in: place.keyFile + ".draft-f")
      let others = ["key.draft-", "key.draft-mine", "key.drafts", "other.draft-1"]
      for name in others { try place.put([1], in: place.folder + "/" + name) }
      try await place.store().set(.token("new"))
      let names = try FileManager.default.contentsOfDirectory(atPath: place.folder)
      #expect(names.sorted() == (others + ["credentials", "credentials.lock", "key"]).sorted())
      let stored = try await place.store().current()
      #expect(stored.credential == .token("new"))
    }
  }

  @Test("The key of a passphrase is derived once, even if several tasks need it first")
  func derivedOnce() async throws {
    try await CredentialsFolder.with { place in
      let key = CredentialsFileKey.passphrase("correct horse")
      let clocks = Clocks(clock: place.clock, date: { Date(timeIntervalSince1970: 1_790_000_000) })
      try await FileCredentialsStore(
        at: place.file, key: key, dependencies: FileCredentialsStore.Dependencies(clocks: clocks, rounds: 2000)
      )
      .set(.token("token"))
      let derived = Log<Bool>()
      var dependencies = FileCredentialsStore.Dependencies(clocks: clocks, rounds: 3)
      dependencies.derives = { derived.add(true) }
      let store = FileCredentialsStore(at: place.file, key: key, dependencies: dependencies)
      let read = try await withThrowingTaskGroup(of: Credential?.self) { group in
        for _ in 0..<50 { group.addTask { try await store.current().credential } }
        return try await group.reduce(into: [Credential?]()) { $0.append($1) }
      }
      #expect(read.count == 50 && read.allSatisfy { $0 == .token("token") })
      #expect(derived.all.count == 1)
    }
  }
}
