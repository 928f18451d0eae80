import ApusCore
import Synchronization

extension Refresher {
  /// Observes the store while refreshes are under way: calls must not wait for the refresh of credentials that were
  /// replaced or removed by other means.
  func watch(_ context: CallContext) {
    guard let changes = source.principalChanges else { return }
    shared.withLock { shared in
      guard shared.watch == nil else { return }
      let observation = changes.observe { [weak self] in self?.storeChanged() }
      shared.watch = Watch(context: context, observation: observation)
    }
  }

  /// Ends the observation if no call waits and no refresh is under way.
  func unwatch() {
    let watch = shared.withLock { shared -> Watch? in
      guard shared.state.flights.isEmpty, shared.state.waiters.isEmpty else { return nil }
      defer { shared.watch = nil }
      return shared.watch
    }
    if let watch { source.principalChanges?.remove(watch.observation) }
  }

  private func storeChanged() {
    // A refresh that changes the store itself ends the waits with its own result.
    let context = shared.withLock { $0.settling.isEmpty ? $0.watch?.context : nil }
    context?.spawnDetached { await self.look() }
  }

  /// Ends the waits for generations that are no longer current.
  private func look() async {
    guard let generation = try? await source.current().generation else { return }
    resolve { shared in
      (shared.settling.isEmpty ? shared.state.replaced(by: generation) : [], .look)
    }
    unwatch()
  }
}
