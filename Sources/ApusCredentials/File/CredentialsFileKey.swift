import ApusFiles
public import ApusMiddleware
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The key that seals a credentials file.
public struct CredentialsFileKey: Sendable {
  enum KeySource: Sendable {
    case file(FilePath)
    case passphrase(Secret)
  }

  let source: KeySource

  /// A key of 256 bits in a separate file, in Base64.
  ///
  /// If the file is missing, a random key is created when the first credentials are stored, with mode 600; several
  /// processes that create it concurrently agree on one key. A file that other users can read is refused. Do not store
  /// the key with copies of the credentials file, such as backups: both together reveal the credentials. The key is
  /// read again for each write.
  ///
  /// - Parameter path: the path of the key file; missing folders are created with mode 700.
  public static func file(_ path: String) -> CredentialsFileKey {
    CredentialsFileKey(source: .file(FilePath(path)))
  }

  /// A passphrase from which the key is derived: PBKDF2 with HMAC-SHA-256 (RFC 8018 §5.2), 600,000 rounds and a
  /// random salt for each file.
  ///
  /// The derivation requires most of a second of processor time, once per process.
  public static func passphrase(_ passphrase: Secret) -> CredentialsFileKey {
    CredentialsFileKey(source: .passphrase(passphrase))
  }
}

/// A key that is derived from a passphrase: PBKDF2 with HMAC-SHA-256 (RFC 8018 §5.2).
enum PassphraseKey {
  /// The number of rounds for new files.
  static let rounds: UInt32 = 600_000
  /// The maximum number of rounds that a file may specify. A manipulated file could otherwise waste processor time.
  static let maximumRounds: UInt32 = 10_000_000
  static let saltLength = 16

  /// Returns the first block of the PBKDF2 output. The block is as long as the key.
  static func derive(from passphrase: Secret, salt: [UInt8], rounds: UInt32) -> SymmetricKey {
    // Keyed once: each round starts from a copy.
    let keyed = HMAC<SHA256>(key: SymmetricKey(data: Array(passphrase.value.utf8)))
    var first = keyed
    let start: [UInt8] = salt + [0, 0, 0, 1]
    first.update(data: start)
    var block = first.finalize()
    var derived = words(of: block)
    var round: UInt32 = 1
    while round < rounds {
      var next = keyed
      block.withUnsafeBytes { next.update(data: $0) }
      block = next.finalize()
      derived ^= words(of: block)
      round += 1
    }
    return withUnsafeBytes(of: derived) { SymmetricKey(data: $0) }
  }

  private static func words(of block: HMAC<SHA256>.MAC) -> SIMD4<UInt64> {
    block.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
  }
}

/// The header and the key of a sealed file.
struct Seal: Sendable {
  let header: SealHeader
  let key: SymmetricKey
}

/// The key of a file, cached once it is read or derived.
final class KeyCache: Sendable {
  private let source: CredentialsFileKey.KeySource
  private let rounds: UInt32
  private let derives: @Sendable () -> Void
  private let cached = Mutex<Seal?>(nil)
  private let derivation = AsyncMutex()

  /// - Parameters:
  ///   - rounds: the number of rounds for new files.
  ///   - derives: called before each derivation.
  init(_ key: CredentialsFileKey, rounds: UInt32, derives: @escaping @Sendable () -> Void = {}) {
    source = key.source
    self.rounds = rounds
    self.derives = derives
  }

  /// Creates the header of a new file.
  func newHeader() -> SealHeader {
    switch source {
    case .file: return .keyFile
    case .passphrase:
      let salt = (0..<PassphraseKey.saltLength).map { _ in UInt8.random(in: .min ... .max) }
      return .passphrase(salt: salt, rounds: rounds)
    }
  }

  /// Returns the cached key for a header, or `nil` if no such key is cached. The key file may have changed or vanished
  /// since, so this key opens files but never seals them.
  func cachedKey(for header: SealHeader) -> SymmetricKey? {
    cached.withLock { $0?.header == header ? $0?.key : nil }
  }

  /// Returns the current key for a header, from the key file or from the passphrase. Reads the key file again.
  ///
  /// - Parameter file: the name of the file to open, for errors.
  /// - Throws: ``CredentialsStoreError``; `FileError`; `CancellationError` when the task is cancelled while another
  ///   task derives the key.
  func key(for header: SealHeader, _ file: String) async throws -> SymmetricKey {
    switch (source, header) {
    case (.file(let place), .keyFile): return cache(try place.key(isNew: false), header)
    case (.passphrase(let passphrase), .passphrase(let salt, let rounds)):
      return try await derived(header) { PassphraseKey.derive(from: passphrase, salt: salt, rounds: rounds) }
    default: throw CredentialsStoreError(.keyKindMismatch, file)
    }
  }

  /// Returns the seal of a new file. A missing key file is created, because no file is sealed with it yet.
  ///
  /// - Throws: the same errors as ``key(for:_:)``.
  func newSeal() async throws -> Seal {
    let header = newHeader()
    if case .file(let place) = source { return Seal(header: header, key: cache(try place.key(isNew: true), header)) }
    return Seal(header: header, key: try await key(for: header, ""))
  }

  /// Returns the same key as ``key(for:_:)``. Blocks the thread while it derives a key.
  ///
  /// - Throws: ``CredentialsStoreError``; `FileError`
  func blockingKey(for header: SealHeader, _ file: String) throws -> SymmetricKey {
    switch (source, header) {
    case (.file(let place), .keyFile): return cache(try place.key(isNew: false), header)
    case (.passphrase(let passphrase), .passphrase(let salt, let rounds)):
      if let key = cachedKey(for: header) { return key }
      derives()
      return cache(PassphraseKey.derive(from: passphrase, salt: salt, rounds: rounds), header)
    default: throw CredentialsStoreError(.keyKindMismatch, file)
    }
  }

  /// Returns the same seal as ``newSeal()``. Blocks the thread while it derives a key.
  func blockingSeal() throws -> Seal {
    let header = newHeader()
    if case .file(let place) = source { return Seal(header: header, key: cache(try place.key(isNew: true), header)) }
    return Seal(header: header, key: try blockingKey(for: header, ""))
  }

  /// Refuses a key file whose name collides with one of the credentials' files.
  ///
  /// - Parameter folder: the credentials' folder.
  func check(apartFrom credentials: FilePath, in folder: Folder) throws {
    guard case .file(let place) = source else { return }
    // Some file systems ignore case.
    let name = place.name.lowercased()
    guard credentials.names.contains(where: { $0.lowercased() == name }) else { return }
    guard let keyFolder = try place.openFolder(), try keyFolder.isSame(as: folder) else { return }
    throw CredentialsStoreError(.keyPathCollision, place.name)
  }

  /// Derives a key once, even if several tasks need it at the same time.
  private func derived(_ header: SealHeader, _ derive: @Sendable () -> SymmetricKey) async throws -> SymmetricKey {
    if let key = cachedKey(for: header) { return key }
    return try await derivation.withLock {
      // Another task may have derived the key in the meantime.
      if let key = cachedKey(for: header) { return key }
      derives()
      return cache(derive(), header)
    }
  }

  private func cache(_ key: SymmetricKey, _ header: SealHeader) -> SymmetricKey {
    cached.withLock { $0 = Seal(header: header, key: key) }
    return key
  }
}
