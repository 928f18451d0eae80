import Synchronization

/// The tasks that a simulation waits for.
final class SimulationTasks: Sendable {
  private struct State {
    var running: [UInt64: Task<Void, Never>?] = [:]
    var lastID: UInt64 = 0
    var failure: (any Error)?
  }

  private let state = Mutex(State())
  private let executor: ManualExecutor

  init(executor: ManualExecutor) {
    self.executor = executor
  }

  /// Whether all have ended.
  var isEmpty: Bool { state.withLock { $0.running.isEmpty } }

  /// What the first of them threw that failed.
  var failure: (any Error)? { state.withLock { $0.failure } }

  func spawn(_ work: @escaping @Sendable () async throws -> Void) {
    let id = state.withLock { state in
      state.lastID += 1
      state.running[state.lastID] = .some(nil)
      return state.lastID
    }
    let task = Task<Void, Never>(executorPreference: executor) {
      do {
        try await work()
        self.end(id, nil)
      } catch {
        self.end(id, error)
      }
    }
    state.withLock { state in
      if state.running[id] != nil { state.running[id] = .some(task) }
    }
  }

  func cancelAll() {
    let running = state.withLock { $0.running.sorted { $0.key < $1.key }.map { $0.value } }
    for task in running { task?.cancel() }
  }

  private func end(_ id: UInt64, _ error: (any Error)?) {
    state.withLock { state in
      state.running[id] = nil
      if state.failure == nil { state.failure = error }
    }
  }
}
