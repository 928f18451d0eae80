import ApusCore
import ApusMiddleware

// The driver of each transfer: a task that performs the actions of its state one after the other.

extension Transfers {
  /// Starts the driver of a transfer if a command asks for it.
  func perform(_ effects: TransferState.Effects, on transfer: QueuedTransfer) {
    guard effects.startsDriver else { return }
    // Enters the scheduler's queue here if nothing is to be stored first, so that stored transfers keep their order.
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
      forget(transfer)
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

  /// Enters the scheduler's queue, and starts the task that waits there and then transfers.
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

  /// Returns the error of the run; `nil` if the transfer is complete.
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
          // Without the folder there is nothing to remove.
          if error.problem != .folderMissing, error.problem != .invalidPath { throw error }
        }
      } else {
        // If the server cannot be asked, or the content no longer exists, at least nothing stays here.
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
