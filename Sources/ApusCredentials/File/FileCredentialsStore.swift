public import ApusCore
import ApusFiles
public import ApusMiddleware
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A credentials store in an encrypted file. The store survives restarts, and several processes can share it.
///
/// ```swift
/// let tokens = FileCredentialsStore(at: "/var/lib/app/credentials", key: .file("/etc/app/credentials.key"))
/// let api = Client(baseURL: "https://api.example.com/v1") { $0.authentication = .bearer(tokens) }
/// try await tokens.set(.token("mF_9.B5f-4.1JqM"))
/// ```
///
/// The content is sealed with AES-256-GCM. The file is accessible to its owner only (mode 600). Its folder must be
/// accessible to its owner only, too; a missing folder is created with mode 700. The file is replaced atomically: after
/// any failure or crash it contains either the old or the new content. The folder also contains the empty lock files
/// `NAME.lock` and `NAME.lease` and, during a write, the file `NAME.new`.
///
/// Changes by other processes take effect immediately: each use checks whether the file has changed, with one system
/// call on the caller's executor. The file is read only if it has changed. Reads and writes run off the caller's actor.
/// A file that cannot be read is never overwritten: remove it to start signed out. The locks work between processes of
/// one machine, not on a shared network file system. Do not remove the lock files while a process runs.
///
/// Reading, deriving a key and writing block a thread of the system's pool. When ``set(_:)`` or ``refresh(_:to:)``
/// returns, the credentials are on the disk; that takes milliseconds, or much longer on a busy disk.
public final class FileCredentialsStore: RefreshableCredentialsStore, CustomReflectable {
  /// The dependencies that tests replace.
  struct Dependencies: Sendable {
    var clocks: Clocks
    var rounds = PassphraseKey.rounds
    /// Called at each step of a replacement. An error ends the replacement at that step.
    var reached: @Sendable (Folder.Step) throws -> Void = { _ in }
    /// Called before each derivation of a key from a passphrase.
    var derives: @Sendable () -> Void = {}
    /// Called when a reader has found no file, before the missing file is recorded.
    var missed: @Sendable () async throws -> Void = {}
    /// Returns 64 random bits.
    var random: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
  }

  /// A file that was read or written.
  private struct Content: Sendable {
    let bytes: [UInt8]
    let identity: FileIdentity
    /// The open file, retained as long as the identity is used.
    let descriptor: Descriptor
  }

  /// The content of the file when it was last read or written.
  private struct Memory: Sendable {
    var cached: CachedRecord?
    /// The identity of the file; `nil` if the file did not exist.
    var file: FileIdentity?
    /// The open file, retained so that its inode number is not reused.
    var descriptor: Descriptor?
  }

  /// The maximum size of the file in bytes.
  private static let limit = 1 << 20

  let place: FilePath
  let dependencies: Dependencies
  let writes = AsyncMutex()
  let leases = AsyncMutex()
  /// Notifies of sign-ins and sign-outs: of this process immediately, of other processes when the file is read.
  public let principalChanges: PrincipalChangeNotifier? = PrincipalChangeNotifier()
  private let keys: KeyCache
  private let memory = Mutex(Memory())

  /// Creates a store in a file. Neither the file nor the key is accessed before the first use.
  ///
  /// - Parameters:
  ///   - path: the path of the file. Missing folders are created when the first credentials are stored or refreshed.
  ///   - key: the key that seals the file. A key file must not have the name of the credentials file or of its lock
  ///     files.
  ///   - clock: measures the age of tokens whose lifetime is known, and the delays while another process has a lock.
  ///     Default: `SystemClock`.
  ///   - now: the wall clock, by which tokens age while the process does not run. Default: the system's wall clock.
  public convenience init(
    at path: String, key: CredentialsFileKey, clock: any MonotonicClock = SystemClock(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init(at: path, key: key, dependencies: Dependencies(clocks: Clocks(clock: clock, date: now)))
  }

  init(at path: String, key: CredentialsFileKey, dependencies: Dependencies) {
    place = FilePath(path)
    keys = KeyCache(key, rounds: dependencies.rounds, derives: dependencies.derives)
    self.dependencies = dependencies
  }

  /// Returns the current credentials: from memory if the file has not changed, otherwise from the file.
  ///
  /// - Throws: ``CredentialsStoreError`` if the file cannot be read or is not safe; `CancellationError` when the
  ///   task is cancelled while another task derives the key.
  public func current() async throws -> StoredCredential {
    if let stored = unchanged() { return stored }
    return try await read().stored(dependencies.clocks)
  }

  private func unchanged() -> StoredCredential? {
    let file: FileIdentity?
    switch place.status {
    case .file(let identity): file = identity
    case .nothing: file = nil
    case .unknown: return nil
    }
    return memory.withLock { memory in
      guard let cached = memory.cached, memory.file == file else { return nil }
      return cached.stored(dependencies.clocks)
    }
  }

  // MARK: Reading and writing

  /// Reads the file into memory.
  @concurrent
  @discardableResult
  func read() async throws -> CachedRecord {
    try await CredentialsStoreError.converting {
      while true {
        let before = lastFile
        if let folder = try place.openFolder() {
          try check(folder)
          if let content = try content(in: folder) { return cache(try await record(in: content), content) }
        }
        try await dependencies.missed()
        if let cached = missing(since: before) { return cached }
      }
    }
  }

  private func content(in folder: Folder) throws(FileError) -> Content? {
    guard let file = try folder.existing(place.name, for: .reading, isPrivate: true) else { return nil }
    // Determined before the content is read, so that a later change is noticed.
    let identity = try file.identity
    return Content(bytes: try file.bytes(upTo: Self.limit), identity: identity, descriptor: file)
  }

  /// Refuses a folder that is not safe, and a key file that would collide with the credentials' files.
  func check(_ folder: Folder) throws {
    try folder.checkIsPrivate()
    try keys.check(apartFrom: place, in: folder)
  }

  /// Returns the stored record, and the seal of the file; `nil` if the file does not exist. The caller has the write
  /// lock.
  ///
  /// The current key is used instead of the cached key, because processes that start later must be able to read the
  /// file.
  func storedRecord(in folder: Folder) async throws -> (CredentialRecord, Seal?) {
    while true {
      let before = lastFile
      guard let content = try content(in: folder) else {
        if let cached = missing(since: before) { return (cached.record, nil) }
        continue
      }
      let header = try header(of: content)
      let key = try await keys.key(for: header, place.name)
      return (try record(in: content, sealedBy: Seal(header: header, key: key)), Seal(header: header, key: key))
    }
  }

  private func record(in content: Content) async throws -> CredentialRecord {
    let header = try header(of: content)
    if let key = keys.cachedKey(for: header), let bytes = header.opened(content.bytes, with: key) {
      return try record(of: bytes)
    }
    // The key may have been replaced together with the file.
    let key = try await keys.key(for: header, place.name)
    return try record(in: content, sealedBy: Seal(header: header, key: key))
  }

  private func record(
    in content: Content, sealedBy seal: Seal
  ) throws(CredentialsStoreError) -> CredentialRecord {
    guard let bytes = seal.header.opened(content.bytes, with: seal.key) else {
      throw CredentialsStoreError(.wrongKeyOrDamaged, place.name)
    }
    return try record(of: bytes)
  }

  private func record(of bytes: Data) throws(CredentialsStoreError) -> CredentialRecord {
    guard let record = CredentialRecord(bytes) else { throw CredentialsStoreError(.unknownFormat, place.name) }
    return record
  }

  private func header(of content: Content) throws(CredentialsStoreError) -> SealHeader {
    guard let header = SealHeader(of: content.bytes) else {
      throw CredentialsStoreError(.unknownFormat, place.name)
    }
    return header
  }

  /// Writes a record to the file and to memory.
  ///
  /// - Parameter old: the seal of the present file; `nil` if the file does not exist.
  func write(_ record: CredentialRecord, in folder: Folder, sealedAs old: Seal?) async throws {
    let seal: Seal
    if let old { seal = old } else { seal = try await keys.newSeal() }
    let bytes = try seal.header.sealed(record.encoded(), with: seal.key)
    // A larger file could be written, but never read again.
    guard bytes.count <= Self.limit else { throw CredentialsStoreError(.tooLarge, place.name) }
    let file = try folder.replace(place.name, by: bytes, dependencies.reached)
    cache(record, Content(bytes: bytes, identity: try file.identity, descriptor: file))
  }

  /// An empty mirror, so that dumps contain no secrets.
  public var customMirror: Mirror { Mirror(self, children: []) }

  // MARK: Memory

  @discardableResult
  private func cache(_ record: CredentialRecord, _ content: Content) -> CachedRecord {
    let cached = CachedRecord(record, dependencies.clocks)
    let new = Memory(cached: cached, file: content.identity, descriptor: content.descriptor)
    let old = memory.withLock { memory in
      defer { memory = new }
      return memory
    }
    // Closes the old file outside the lock.
    withExtendedLifetime(old) {}
    notify(of: cached, after: old.cached)
    return cached
  }

  private func notify(of cached: CachedRecord, after old: CachedRecord?) {
    if let old, old.record.principal != cached.record.principal { principalChanges?.notify() }
  }

  /// The file that was last read or written; `nil` if the file did not exist.
  private var lastFile: FileIdentity? { memory.withLock { $0.file } }

  /// Records that the file does not exist: the store is signed out, even if the file existed before.
  ///
  /// - Parameter before: the file that was last read or written before the search.
  /// - Returns: `nil` if another task has read or written a file since, so that the observation is outdated.
  private func missing(since before: FileIdentity?) -> CachedRecord? {
    let (cached, old) = memory.withLock { memory -> (CachedRecord?, CachedRecord?) in
      guard memory.file == before else { return (nil, nil) }
      if let cached = memory.cached, memory.file == nil { return (cached, nil) }
      let (old, cached) = (memory.cached, CachedRecord((memory.cached?.record ?? .empty).lost, dependencies.clocks))
      memory = Memory(cached: cached)
      return (cached, old)
    }
    if let cached { notify(of: cached, after: old) }
    return cached
  }
}
