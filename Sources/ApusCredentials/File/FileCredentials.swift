#if Credentials
  public import ApusCore
  public import ApusMiddleware
  import Synchronization

  #if canImport(FoundationEssentials)
    public import FoundationEssentials
  #else
    public import Foundation
  #endif

  /// Keeps credentials in an encrypted file, over restarts and for several processes at once.
  ///
  /// ```swift
  /// let tokens = FileCredentials(at: "/var/lib/app/credentials", key: .file("/etc/app/credentials.key"))
  /// let api = Client(baseURL: "https://api.example.com/v1") { $0.authentication = .bearer(tokens) }
  /// try await tokens.set(.token("mF_9.B5f-4.1JqM"))
  /// ```
  ///
  /// The content is sealed by AES-256-GCM, the file is its owner's alone (mode 600), and so must its folder be (700, as
  /// it is made where it is missing). It is replaced in one step: whatever fails, and whenever the process dies, the old
  /// content is there or the new. Beside it are `NAME.lock` and `NAME.lease`, empty files that stand for locks, and while
  /// it is written `NAME.new`.
  ///
  /// Other processes' changes count at once: each use looks whether the file is another by now, which is one call of the
  /// system on the caller's executor; it is read only then, off the caller's actor, as it is written. What cannot be read
  /// is never overwritten: remove the file to begin anew, signed out. Locks work between processes of one machine; a file
  /// that several machines share is not for this. Nor are the files that stand for the locks to be removed while a process
  /// runs.
  ///
  /// Reading, deriving a key and writing block a thread of the system's pool meanwhile, as there is no other way to wait
  /// for a disk: what is kept is on it when ``set(_:)`` or ``refresh(_:to:)`` returns, which takes milliseconds, or much
  /// longer where the disk is busy.
  public final class FileCredentials: RefreshableCredentialSource, CustomReflectable {
    /// How it does what it does, other in tests.
    struct Ways: Sendable {
      var clocks: Clocks
      var rounds = PassphraseKey.rounds
      /// Told how far the replacing of the file has come; what it throws ends it there.
      var reached: @Sendable (Folder.Step) throws -> Void = { _ in }
      /// Told each time before a key is derived from a passphrase.
      var derives: @Sendable () -> Void = {}
      /// Told when a reader has found no file, before that is taken in.
      var missed: @Sendable () async throws -> Void = {}
      /// 64 random bits.
      var random: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    }

    /// What the file held when it was last looked at.
    private struct Memory: Sendable {
      var held: HeldRecord?
      /// The file it was read from; `nil`: there was none.
      var file: FileIdentity?
      /// Keeps that file open, so that no other gets its number.
      var descriptor: Descriptor?
    }

    /// The most bytes that the file may have.
    private static let limit = 1 << 20

    let place: FilePlace
    let ways: Ways
    let writes = Turns()
    let leases = Turns()
    /// Tells who wants to know of sign-ins and sign-outs: of this process at once, of others when the file is read.
    public let principalChanges: PrincipalChanges? = PrincipalChanges()
    private let keys: KeyHolder
    private let memory = Mutex(Memory())

    /// Keeps credentials in a file; neither it nor the key is touched before the first use.
    ///
    /// - Parameters:
    ///   - path: where; folders that are missing are made when the first credentials are kept or refreshed.
    ///   - key: what the file is sealed with. A key file stands under another name than the credentials and the files
    ///     beside them.
    ///   - clock: tells how old tokens are whose lifetime is known, and is slept by while another process has a lock.
    ///     Default: `SystemClock`.
    ///   - now: the time of day, by which tokens age while no process runs. Default: the system's.
    public convenience init(
      at path: String, key: FileKey, clock: any MonotonicClock = SystemClock(),
      now: @escaping @Sendable () -> Date = { Date() }
    ) {
      self.init(at: path, key: key, ways: Ways(clocks: Clocks(clock: clock, date: now)))
    }

    init(at path: String, key: FileKey, ways: Ways) {
      place = FilePlace(path)
      keys = KeyHolder(key, rounds: ways.rounds, derives: ways.derives)
      self.ways = ways
    }

    /// The credentials there are now: those in memory, unless the file has changed.
    ///
    /// - Throws: ``FileCredentialsError`` where the file cannot be read or must not be trusted; `CancellationError` when
    ///   the task is cancelled while another one derives the key.
    public func current() async throws -> StoredCredential {
      if let stored = unchanged() { return stored }
      return try await read().stored(ways.clocks)
    }

    private func unchanged() -> StoredCredential? {
      let file: FileIdentity?
      switch place.look() {
      case .file(let identity): file = identity
      case .nothing: file = nil
      case .unknown: return nil
      }
      return memory.withLock { memory in
        guard let held = memory.held, memory.file == file else { return nil }
        return held.stored(ways.clocks)
      }
    }

    // MARK: Reading and writing

    /// Reads the file, and holds what it says.
    @concurrent
    @discardableResult
    func read() async throws -> HeldRecord {
      while true {
        let before = lastFile
        if let folder = try place.openFolder() {
          try check(folder)
          if let content = try folder.content(of: place.name, upTo: Self.limit) {
            return hold(try await record(in: content), content)
          }
        }
        try await ways.missed()
        if let held = missing(since: before) { return held }
      }
    }

    /// Refuses a folder that must not be trusted, and a key that would stand in the credentials' way there.
    func check(_ folder: Folder) throws(FileCredentialsError) {
      try folder.check()
      try keys.check(apartFrom: place, in: folder)
    }

    /// What is kept now, and how the file is sealed; `nil`: there is none. For who holds the file's lock.
    ///
    /// It is opened with the key that is there now: what is written must be found by processes that start later.
    func kept(in folder: Folder) async throws -> (CredentialRecord, Seal?) {
      while true {
        let before = lastFile
        guard let content = try folder.content(of: place.name, upTo: Self.limit) else {
          if let held = missing(since: before) { return (held.record, nil) }
          continue
        }
        let header = try header(of: content)
        let key = try await keys.key(for: header, place.name)
        return (try record(in: content, sealedBy: Seal(header: header, key: key)), Seal(header: header, key: key))
      }
    }

    private func record(in content: Folder.Content) async throws -> CredentialRecord {
      let header = try header(of: content)
      if let key = keys.heldKey(for: header), let bytes = header.opened(content.bytes, with: key) {
        return try record(of: bytes)
      }
      // The key may have been replaced together with the file.
      let key = try await keys.key(for: header, place.name)
      return try record(in: content, sealedBy: Seal(header: header, key: key))
    }

    private func record(
      in content: Folder.Content, sealedBy seal: Seal
    ) throws(FileCredentialsError) -> CredentialRecord {
      guard let bytes = seal.header.opened(content.bytes, with: seal.key) else {
        throw FileCredentialsError(.sealed, place.name)
      }
      return try record(of: bytes)
    }

    private func record(of bytes: Data) throws(FileCredentialsError) -> CredentialRecord {
      guard let record = CredentialRecord(bytes) else { throw FileCredentialsError(.unknownFormat, place.name) }
      return record
    }

    private func header(of content: Folder.Content) throws(FileCredentialsError) -> SealHeader {
      guard let header = SealHeader(of: content.bytes) else { throw FileCredentialsError(.unknownFormat, place.name) }
      return header
    }

    /// Puts a record in the file's place, and holds it.
    ///
    /// - Parameter old: how the file is sealed that is there; `nil`: there is none.
    func keep(_ record: CredentialRecord, in folder: Folder, sealedAs old: Seal?) async throws {
      let seal: Seal
      if let old { seal = old } else { seal = try await keys.newSeal() }
      let bytes = try seal.header.sealed(record.encoded(), with: seal.key)
      // It could be written, and never be read again.
      guard bytes.count <= Self.limit else { throw FileCredentialsError(.tooLarge, place.name) }
      hold(record, try folder.replace(place.name, by: bytes, ways.reached))
    }

    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: []) }

    // MARK: Memory

    @discardableResult
    private func hold(_ record: CredentialRecord, _ content: Folder.Content) -> HeldRecord {
      let held = HeldRecord(record, ways.clocks)
      let new = Memory(held: held, file: content.identity, descriptor: content.descriptor)
      let old = memory.withLock { memory in
        defer { memory = new }
        return memory
      }
      // Closed outside of the lock.
      withExtendedLifetime(old) {}
      tell(of: held, after: old.held)
      return held
    }

    private func tell(of held: HeldRecord, after old: HeldRecord?) {
      if let old, old.record.principal != held.record.principal { principalChanges?.notify() }
    }

    /// The file that was read or written last; `nil`: there was none.
    private var lastFile: FileIdentity? { memory.withLock { $0.file } }

    /// There is no file: signed out, also where there was one before.
    ///
    /// - Parameter before: the file that was read or written last when this was looked for.
    /// - Returns: `nil` where another task has read or written one since: what was seen is over.
    private func missing(since before: FileIdentity?) -> HeldRecord? {
      let (held, old) = memory.withLock { memory -> (HeldRecord?, HeldRecord?) in
        guard memory.file == before else { return (nil, nil) }
        if let held = memory.held, memory.file == nil { return (held, nil) }
        let (old, held) = (memory.held, HeldRecord((memory.held?.record ?? .empty).lost, ways.clocks))
        memory = Memory(held: held)
        return (held, old)
      }
      if let held { tell(of: held, after: old) }
      return held
    }
  }
#endif
