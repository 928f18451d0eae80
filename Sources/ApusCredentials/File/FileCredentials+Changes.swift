#if Credentials
  public import ApusMiddleware

  extension FileCredentials {
    /// Replaces the credentials; when it returns they are on the disk.
    ///
    /// - Throws: ``FileCredentialsError``, and nothing has changed, unless the disk failed after the last step: also where
    ///   the key is gone with which the file is sealed, or another one is in its place, though the credentials can still
    ///   be used; `CancellationError` when the task is cancelled while another process writes.
    public func set(_ credential: Credential) async throws {
      let now = ways.clocks.wall
      _ = try await replace { $0.replaced(by: credential, at: now) }
    }

    /// Replaces the credentials by those of an account; when it returns they are on the disk.
    ///
    /// Where the present credentials were set for the same account, the principal stays the same: calls that wait go out
    /// with the new ones. Otherwise somebody has signed in, as with ``set(_:)``.
    ///
    /// - Parameter account: names the account, for example by its id. It is kept in the file.
    /// - Throws: as ``set(_:)``.
    public func set(_ credential: Credential, account: String) async throws {
      let now = ways.clocks.wall
      _ = try await replace { $0.replaced(by: credential, at: now, account: account) }
    }

    /// Removes the credentials. The file stays and counts on, so that nobody takes the next ones for these; where there is
    /// none, none is made.
    ///
    /// - Throws: as ``set(_:)``.
    public func clear() async throws {
      let now = ways.clocks.wall
      _ = try await replace(makesFile: false) { $0.replaced(by: nil, at: now) }
    }

    /// Replaces the credentials of a generation, or removes them, if it is still there: in the file, whichever process
    /// wrote it last.
    ///
    /// - Throws: as ``set(_:)``.
    public func refresh(_ generation: UInt64, to credential: Credential?) async throws -> Bool {
      let now = ways.clocks.wall
      return try await replace { present in
        present.generation == generation ? present.refreshed(to: credential, at: now) : nil
      }
    }

    /// Does work while nobody else refreshes these credentials, in this process or another one.
    ///
    /// Who waits asks for the lease again and again, with pauses of up to 100 ms. The system takes it from a process that
    /// dies. The folder and the file `NAME.lease` are made where they are missing, also where nothing has been kept yet.
    ///
    /// Work that does further work exclusively with the same file waits for ever, through this object or another one. It
    /// may use everything else.
    ///
    /// - Throws: what `work` throws; `CancellationError` when the task is cancelled while it waits;
    ///   ``FileCredentialsError``.
    public func exclusively(_ work: @Sendable () async throws -> Void) async throws {
      try await leases.exclusively {
        let lease = try await takeLease()
        defer { lease.release() }
        try await work()
      }
    }

    /// Off the caller's actor, as everything that waits for the disk.
    @concurrent
    private func takeLease() async throws -> FileLock {
      let folder = try place.makeFolder()
      try check(folder)
      let lease = try await FileLock.take(place.leaseName, in: folder, ways.clocks.clock)
      do {
        try await tidy(folder)
      } catch {
        lease.release()
        throw error
      }
      return lease
    }

    /// - Parameters:
    ///   - makesFile: whether a file is made where there is none; else nothing is done there.
    ///   - next: the record to be kept in the place of the one that is there; `nil`: it stays.
    /// - Returns: whether it was replaced.
    @concurrent
    private func replace(
      makesFile: Bool = true, _ next: @Sendable (CredentialRecord) -> CredentialRecord?
    ) async throws -> Bool {
      try await writes.exclusively {
        if !makesFile, place.look() == .nothing {
          try await read()
          return false
        }
        let folder = try place.makeFolder()
        try check(folder)
        let lock = try await takeLock(in: folder)
        defer { lock.release() }
        let (present, seal) = try await kept(in: folder)
        guard var new = next(present) else { return false }
        if seal == nil { new = new.counted(from: ways.clocks.wall, random: ways.random()) }
        try await keep(new, in: folder, sealedAs: seal)
        return true
      }
    }

    private func takeLock(in folder: Folder) async throws -> FileLock {
      try await FileLock.take(place.lockName, in: folder, ways.clocks.clock)
    }

    /// Removes what a process that died while it wrote has left behind.
    private func tidy(_ folder: Folder) async throws {
      guard FilePlace(Folder.draft(of: place.path)).look() != .nothing else { return }
      try await writes.exclusively {
        let lock = try await takeLock(in: folder)
        defer { lock.release() }
        folder.remove(Folder.draft(of: place.name))
      }
    }
  }
#endif
