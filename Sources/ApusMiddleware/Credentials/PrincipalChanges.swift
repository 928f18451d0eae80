import Synchronization

/// Tells of sign-ins and sign-outs: what a ``CredentialSource`` of your own makes, gives as its
/// ``CredentialSource/principalChanges`` and notifies.
public final class PrincipalChanges: Sendable {
  typealias Action = @Sendable () -> Void

  private struct State {
    var actions: [UInt64: Action] = [:]
    var next: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Makes one with no observers.
  public init() {}

  /// Tells all observers that the source's principal has changed. Call it once the source gives the new one, and outside
  /// of its locks. More calls than changes do no harm.
  public func notify() {
    let actions = state.withLock { Array($0.actions.values) }
    for action in actions { action() }
  }

  /// Adds an observer, which is to be quick.
  ///
  /// - Returns: a number to remove it by.
  func observe(_ action: @escaping Action) -> UInt64 {
    state.withLock { state in
      state.next += 1
      state.actions[state.next] = action
      return state.next
    }
  }

  func remove(_ number: UInt64) {
    let removed = state.withLock { $0.actions.removeValue(forKey: number) }
    // Released outside of the lock.
    withExtendedLifetime(removed) {}
  }
}
