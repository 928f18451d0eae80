import ApusFiles
public import ApusMiddleware

extension FileCredentialsStore {
  /// Replaces the credentials at a sign-in. When this returns, they are on the disk.
  ///
  /// - Throws: ``CredentialsStoreError``; nothing has changed in that case, unless the disk failed after the last
  ///   step. It is also thrown if the key that seals the file is missing or was replaced, though the credentials in
  ///   memory still work. `CancellationError` when the task is cancelled while another process writes.
  public func set(_ credential: Credential) async throws {
    _ = try await perform(.signIn(credential, at: ways.clocks.wall))
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
    _ = try await perform(.signIn(credential, account: account, at: ways.clocks.wall))
  }

  /// Removes the credentials. The file stays, so that generations keep increasing; a missing file is not created.
  ///
  /// - Throws: the same errors as ``set(_:)``.
  public func clear() async throws {
    _ = try await perform(.signOut(at: ways.clocks.wall))
  }

  /// Replaces or removes the credentials of a generation, if the file still contains that generation, whichever
  /// process wrote it last.
  ///
  /// - Throws: the same errors as ``set(_:)``.
  public func refresh(_ generation: UInt64, to credential: Credential?) async throws -> Bool {
    try await perform(.refresh(generation, to: credential, at: ways.clocks.wall))
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
  ///   ``CredentialsStoreError``.
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
    try await CredentialsStoreError.converting {
      let folder = try place.makeFolder()
      try check(folder)
      let lease = try await place.lockForRefresh(in: folder, ways.clocks.pause)
      do {
        try await tidy(folder)
      } catch {
        lease.release()
        throw error
      }
      return lease
    }
  }

  /// Returns whether a record was written.
  private func perform(_ change: RecordChange) async throws -> Bool {
    let isWritten = try await CredentialsStoreError.converting { try await replace(change) }
    if change.changesPrincipal { principalChanges?.notify() }
    return isWritten
  }

  @concurrent
  private func replace(_ change: RecordChange) async throws -> Bool {
    try await writes.withLock {
      if !change.createsStore, place.status == .nothing {
        try await read()
        return false
      }
      let folder = try place.makeFolder()
      try check(folder)
      let lock = try await place.lockForWrite(in: folder, ways.clocks.pause)
      defer { lock.release() }
      let (present, seal) = try await kept(in: folder)
      guard
        let new = change.record(after: present, isStored: seal != nil, ways.clocks, random: ways.random)
      else { return false }
      try await keep(new, in: folder, sealedAs: seal)
      return true
    }
  }

  /// Removes the draft of a process that died during a write.
  private func tidy(_ folder: Folder) async throws {
    let draft = Folder.draft(of: place.name)
    guard try folder.look(at: draft) != .nothing else { return }
    try await writes.withLock {
      let lock = try await place.lockForWrite(in: folder, ways.clocks.pause)
      defer { lock.release() }
      folder.remove(draft)
    }
  }
}
