import ApusFiles
public import ApusMiddleware

extension FileCredentialsStore {
  /// Replaces the credentials at a sign-in. When this returns, they are on the disk.
  ///
  /// - Throws: ``CredentialsStoreError``; nothing has changed in that case, unless the disk failed after the last step.
  ///   The error is also thrown if the key that seals the file is missing or was replaced, although the credentials in
  ///   memory still work. `CancellationError` when the task is cancelled while another process writes.
  public func set(_ credential: Credential) async throws {
    _ = try await perform(.signIn(credential, at: dependencies.clocks.wall))
  }

  /// Replaces the credentials with those of a named account. When this returns, they are on the disk.
  ///
  /// If the current credentials were set for the same account, the principal stays the same: waiting calls are sent
  /// with the new credentials. Otherwise this is a sign-in, as with ``set(_:)``.
  ///
  /// - Parameters:
  ///   - credential: the new credentials.
  ///   - account: the name of the account, for example its id. The name is stored in the file.
  /// - Throws: the same errors as ``set(_:)``.
  public func set(_ credential: Credential, account: String) async throws {
    _ = try await perform(.signIn(credential, account: account, at: dependencies.clocks.wall))
  }

  /// Removes the credentials. The file stays, so that generations keep increasing; a missing file is not created.
  ///
  /// - Throws: the same errors as ``set(_:)``.
  public func clear() async throws {
    _ = try await perform(.signOut(at: dependencies.clocks.wall))
  }

  /// Replaces or removes the credentials of a generation, if the file still contains that generation. Another process
  /// may have written the file last.
  ///
  /// - Throws: the same errors as ``set(_:)``.
  public func refresh(_ generation: UInt64, to credential: Credential?) async throws -> Bool {
    try await perform(.refresh(generation, to: credential, at: dependencies.clocks.wall))
  }

  /// Performs an operation under the exclusive lease of these credentials: meanwhile, no other task or process
  /// refreshes them.
  ///
  /// A waiting process polls for the lease, with delays of up to 100 ms. The system releases the lease of a process
  /// that dies. The folder and the file `NAME.lease` are created if they are missing, even if no credentials have been
  /// stored yet.
  ///
  /// The lease is not reentrant: an operation that requests it again, through this object or another store of the same
  /// file, deadlocks. The operation may use all other methods.
  ///
  /// - Throws: the error of `work`; `CancellationError` when the task is cancelled while it waits;
  ///   ``CredentialsStoreError``.
  public func withLock(_ work: @Sendable () async throws -> Void) async throws {
    try await leases.withLock {
      let lease = try await acquireLease()
      defer { lease.release() }
      try await work()
    }
  }

  // Concurrent, so that the caller's actor does not wait for the disk.
  @concurrent
  private func acquireLease() async throws -> FileLocks {
    try await CredentialsStoreError.converting {
      let folder = try place.makeFolder()
      try check(folder)
      let lease = try await place.lockForRefresh(in: folder, dependencies.clocks.pause)
      do {
        try await removeDraft(in: folder)
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
      let lock = try await place.lockForWrite(in: folder, dependencies.clocks.pause)
      defer { lock.release() }
      let (present, seal) = try await storedRecord(in: folder)
      guard
        let new = change.record(after: present, isStored: seal != nil, dependencies.clocks, random: dependencies.random)
      else { return false }
      try await write(new, in: folder, sealedAs: seal)
      return true
    }
  }

  /// Removes the draft of a process that died during a write.
  private func removeDraft(in folder: Folder) async throws {
    let draft = Folder.draft(of: place.name)
    guard try folder.kind(of: draft) != .nothing else { return }
    try await writes.withLock {
      let lock = try await place.lockForWrite(in: folder, dependencies.clocks.pause)
      defer { lock.release() }
      folder.remove(draft)
    }
  }
}
