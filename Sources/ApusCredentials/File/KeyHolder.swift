#if Credentials
  import ApusMiddleware
  import Crypto
  import Synchronization

  /// What a file is sealed with, and what says so in front of it.
  struct Seal: Sendable {
    let header: SealHeader
    let key: SymmetricKey
  }

  /// The key of a file, once it was read or derived.
  final class KeyHolder: Sendable {
    private let kind: FileKey.Kind
    private let rounds: UInt32
    private let derives: @Sendable () -> Void
    private let held = Mutex<Seal?>(nil)
    private let turns = Turns()

    /// - Parameters:
    ///   - rounds: how often a guess at a passphrase has to be hashed in new files.
    ///   - derives: told each time before a key is derived from a passphrase.
    init(_ key: FileKey, rounds: UInt32, derives: @escaping @Sendable () -> Void = {}) {
      kind = key.kind
      self.rounds = rounds
      self.derives = derives
    }

    /// The header of a new file.
    func newHeader() -> SealHeader {
      switch kind {
      case .file: return .keyFile
      case .passphrase:
        let salt = (0..<PassphraseKey.saltLength).map { _ in UInt8.random(in: .min ... .max) }
        return .passphrase(salt: salt, rounds: rounds)
      }
    }

    /// The key that opened files with a header the last time; `nil`: none has yet. A key file may hold another one by now,
    /// or be gone: nothing is sealed with this.
    func heldKey(for header: SealHeader) -> SymmetricKey? {
      held.withLock { $0?.header == header ? $0?.key : nil }
    }

    /// The key that opens files with a header now: that of the key file, which is read again, or the passphrase's.
    ///
    /// - Parameter file: the name of the file that is to be opened, for errors.
    /// - Throws: ``FileCredentialsError``; `CancellationError` when the task is cancelled while another derives the key.
    func key(for header: SealHeader, _ file: String) async throws -> SymmetricKey {
      switch (kind, header) {
      case (.file(let place), .keyFile): return hold(try place.key(isNew: false), header)
      case (.passphrase(let passphrase), .passphrase(let salt, let rounds)):
        return try await derived(header) { PassphraseKey.derive(from: passphrase, salt: salt, rounds: rounds) }
      default: throw FileCredentialsError(.otherKind, file)
      }
    }

    /// What a new file is sealed with: nothing is sealed with the key yet, so one that is missing is made.
    ///
    /// - Throws: as ``key(for:_:)``.
    func newSeal() async throws -> Seal {
      let header = newHeader()
      if case .file(let place) = kind { return Seal(header: header, key: hold(try place.key(isNew: true), header)) }
      return Seal(header: header, key: try await key(for: header, ""))
    }

    /// Refuses a key that stands where something of the credentials stands: one would overwrite the other.
    ///
    /// - Parameter folder: the credentials' folder.
    func check(apartFrom credentials: FilePlace, in folder: Folder) throws(FileCredentialsError) {
      guard case .file(let place) = kind else { return }
      // Some file systems take no notice of case.
      let name = place.name.lowercased()
      guard credentials.names.contains(where: { $0.lowercased() == name }) else { return }
      guard let keyFolder = try place.openFolder(), try keyFolder.isSame(as: folder) else { return }
      throw FileCredentialsError(.keyAmongCredentials, place.name)
    }

    /// Derives a key once, however many ask for it at once.
    private func derived(_ header: SealHeader, _ derive: @Sendable () -> SymmetricKey) async throws -> SymmetricKey {
      if let key = heldKey(for: header) { return key }
      return try await turns.exclusively {
        // Whoever had the turn before may have derived it.
        if let key = heldKey(for: header) { return key }
        derives()
        return hold(derive(), header)
      }
    }

    private func hold(_ key: SymmetricKey, _ header: SealHeader) -> SymmetricKey {
      held.withLock { $0 = Seal(header: header, key: key) }
      return key
    }
  }
#endif
