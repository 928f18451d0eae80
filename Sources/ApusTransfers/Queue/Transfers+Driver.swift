import ApusCore
import ApusMiddleware

// The driver of a transfer is a task that performs the actions of the transfer's state one after the other.

extension Transfers {
  /// Starts the driver of a transfer if a command requires it.
  func perform(_ effects: TransferState.Effects, on transfer: QueuedTransfer) {
    guard effects.startsDriver else { return }
    // The first action is determined here, not in the task, so that stored transfers enter the scheduler's queue in
    // order.
    let first = next(transfer)
    _ = client.spawnDetached { [self] in await drive(transfer, from: first) }
  }

  private func drive(_ transfer: QueuedTransfer, from first: TransferState.Action?) async {
    var action = first
    while let current = action {
      await perform(current, on: transfer)
      signal()
      action = next(transfer)
    }
  }

  private func next(_ transfer: QueuedTransfer) -> TransferState.Action? {
    let action = transfer.update { $0.next() }
    if action == .run { start(transfer) }
    return action
  }

  private func perform(_ action: TransferState.Action, on transfer: QueuedTransfer) async {
    switch action {
    case .store:
      let error = await Self.error { () throws(TransferError) in try await transfer.store() }
      transfer.update { $0.stored(error) }
    case .run:
      await transfer.finishRun()
    case .discard:
      let error = await discard(transfer)
      transfer.update { $0.discarded(error) }
    case .remove:
      let error = await Self.error { () throws(TransferError) in try await transfer.remove() }
      transfer.update { $0.removed(error) }
    case .leave:
      await transfer.release()
      removeFromList(transfer)
      transfer.update { $0.left() }
    }
  }

  private static func error(of work: () async throws(TransferError) -> Void) async -> TransferError? {
    do throws(TransferError) {
      try await work()
      return nil
    } catch {
      return error
    }
  }

  // MARK: Transferring

  /// Enters the scheduler's queue, and starts the task that waits for a permit and then performs the transfer.
  private func start(_ transfer: QueuedTransfer) {
    let clock = client.runtime.clock
    let permit: WorkPermit
    do throws(CallError) {
      permit = try self.permit(transfer.priority, clock)
    } catch {
      transfer.update { $0.ended(error) }
      return
    }
    transfer.begin(
      client.spawnDetached { [self] in
        let error = await transferred(transfer, permit)
        permit.giveBack(at: clock.now)
        transfer.update { $0.ended(error) }
      })
  }

  private func permit(_ priority: CallPriority, _ clock: any MonotonicClock) throws(CallError) -> WorkPermit {
    guard let origin = client.environment.baseURL.origin else { throw CallError(.invalidRequest) }
    do throws(SchedulingRefusal) {
      return try WorkPermit(
        from: configuration.scheduler, for: (origin, configuration.tag, priority), clock: clock)
    } catch {
      throw CallError(.refused, underlying: error)
    }
  }

  /// Performs the transfer. Returns its error, or `nil` if the transfer is complete.
  private func transferred(_ transfer: QueuedTransfer, _ permit: WorkPermit) async -> CallError? {
    do {
      try await permit.wait()
      transfer.update { $0.admit() }
      signal()
      guard let kind = kind(of: transfer.description) else { throw TransferError(.unusableEndpoint) }
      let run = run(of: transfer)
      run.reporter.observe { [weak self] progress in
        transfer.report(progress)
        self?.signal()
      }
      try await kind.run(run)
      return nil
    } catch {
      return Self.failure(error)
    }
  }

  private func discard(_ transfer: QueuedTransfer) async -> TransferError? {
    await Self.error { () throws(TransferError) in
      if let path = transfer.description.path {
        do throws(TransferError) {
          try await PartialFile.discard(path)
        } catch {
          // If the folder is missing, no incomplete file exists.
          if error.problem != .folderMissing, error.problem != .invalidPath { throw error }
        }
      } else {
        // If the server cannot be reached or the content no longer exists, the record is removed nevertheless.
        let run = run(of: transfer)
        try? await kind(of: transfer.description)?.discardUpload?(run)
        try await UploadRecord.remove(run.uploadOptions)
      }
    }
  }

  private func run(of transfer: QueuedTransfer) -> TransferRun {
    var options = UploadOptions(store: store, account: account)
    options.resource = transfer.id.rawValue
    return TransferRun(
      client: client, description: transfer.description, uploadOptions: options, priority: transfer.priority,
      principal: principal, transfer: transfer)
  }
}
