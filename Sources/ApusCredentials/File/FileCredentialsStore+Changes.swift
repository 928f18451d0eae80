public import ApusMiddleware

extension FileCredentialsStore {
  /// Replaces the credentials at a sign-in. When this returns, they are on the disk.
  ///
  /// - Throws: ``FileCredentialsStoreError``; nothing has changed in that case, unless the disk failed after the last
  ///   step. It is also thrown if the key that seals the file is missing or was replaced, though the credentials in
  ///   memory still work. `CancellationError` when the task is cancelled while another process writes.
  public func set(_ credential: Credential) async throws {
    let now = ways.clocks.wall
    _ = try await replace { $0.replaced(by: credential, at: now) }
    principalChanges?.notify()
  }

  /// Replaces the credentials with those of a named account. When this returns, they are on the disk.
  ///
  /// If the current credentials were set for the same account, the principal stays the same: waiting calls are sent
  /// with the new credentials. Otherwise this is a sign-in, as with ``set(_:)``.
  ///
  /// - Parameters:
  ///   - credential: the new credentials.
  ///   - account: the name of the account, for example its id. It is stored in the file.
  /// - Throws: the same errors as ``set(_:)``.
  public func set(_ credential: Credential, account: String) async throws {
    let now = ways.clocks.wall
    _ = try await replace { $0.replaced(by: credential, at: now, account: account) }
    principalChanges?.notify()
  }

  /// Removes the credentials. The file stays, so that generations keep increasing; a missing file is not created.
  ///
  /// - Throws: the same errors as ``set(_:)``.
  public func clear() async throws {
    let now = ways.clocks.wall
    _ = try await replace(makesFile: false) { $0.replaced(by: nil, at: now) }
    principalChanges?.notify()
  }

  /// Replaces or removes the credentials of a generation, if the file still contains that generation, whichever
  /// process wrote it last.
  ///
  /// - Throws: the same errors as ``set(_:)``.
  public func refresh(_ generation: UInt64, to credential: Credential?) async throws -> Bool {
    let now = ways.clocks.wall
    return try await replace { present in
      present.generation == generation ? present.refreshed(to: credential, at: now) : nil
    }
  }

  /// Does work under the exclusive lease of these credentials: in the meantime, no other task or process refreshes
  /// them.
  ///
  /// A waiting process polls for the lease, with delays of up to 100 ms. The system releases the lease of a process
  /// that dies. The folder and the file `NAME.lease` are created if they are missing, even if nothing has been stored
  /// yet.
  ///
  /// The lease is not reentrant: work that asks for it again, through this object or another store of the same file,
  /// deadlocks. The work may use all other methods.
  ///
  /// - Throws: the error of `work`; `CancellationError` when the task is cancelled while it waits;
  ///   ``FileCredentialsStoreError``.
  public func withLock(_ work: @Sendable () async throws -> Void) async throws {
    try await leases.withLock {
      let lease = try await takeLease()
      defer { lease.release() }
      try await work()
    }
  }

  // Off the caller's actor, like everything that waits for the disk.
  @concurrent
  private func takeLease() async throws -> FileLocks {
    let folder = try place.makeFolder()
    try check(folder)
    let lease = try await FileLocks.forRefresh(place, in: folder, ways.clocks.clock)
    do {
      try await tidy(folder)
    } catch {
      lease.release()
      throw error
    }
    return lease
  }

  /// - Parameters:
  ///   - makesFile: whether a missing file is created; if not, nothing is done without a file.
  ///   - next: returns the record to write in place of the present record; `nil`: nothing is written.
  /// - Returns: whether a record was written.
  @concurrent
  private func replace(
    makesFile: Bool = true, _ next: @Sendable (CredentialRecord) -> CredentialRecord?
  ) async throws -> Bool {
    try await writes.withLock {
      if !makesFile, place.look() == .nothing {
        try await read()
        return false
      }
      let folder = try place.makeFolder()
      try check(folder)
      let lock = try await FileLocks.forWrite(place, in: folder, ways.clocks.clock)
      defer { lock.release() }
      let (present, seal) = try await kept(in: folder)
      guard var new = next(present) else { return false }
      if seal == nil { new = new.counted(from: ways.clocks.wall, random: ways.random()) }
      try await keep(new, in: folder, sealedAs: seal)
      return true
    }
  }

  /// Removes the draft of a process that died during a write.
  private func tidy(_ folder: Folder) async throws {
    guard FilePlace(Folder.draft(of: place.path)).look() != .nothing else { return }
    try await writes.withLock {
      let lock = try await FileLocks.forWrite(place, in: folder, ways.clocks.clock)
      defer { lock.release() }
      folder.remove(Folder.draft(of: place.name))
    }
  }
}
