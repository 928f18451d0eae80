import ApusCore
import Synchronization

/// The open streamed responses of one authentication. They end when the account signs out.
final class OpenStreams: Sendable {
  private struct Stream {
    let principal: UInt64
    let interrupt: @Sendable (any Error) -> Void
    let context: CallContext
  }

  private struct State {
    var streams: [UInt64: Stream] = [:]
    var next: UInt64 = 0
    var observation: UInt64?
  }

  private let source: any CredentialsStore
  private let state = Mutex(State())
  /// The number of streams, readable without the lock.
  private let count = Atomic(0)

  init(of source: any CredentialsStore) {
    self.source = source
  }

  /// Ends a response's content when its principal signs out, unless the content has ended before.
  func add(_ content: ResponseContent, of principal: UInt64, _ context: CallContext) async {
    let number = state.withLock { state in
      state.next += 1
      let stream = Stream(principal: principal, interrupt: content.discardAction, context: context)
      state.streams[state.next] = stream
      if state.observation == nil {
        state.observation = source.principalChanges?.observe { [weak self] in self?.sourceChanged() }
      }
      return state.next
    }
    count.add(1, ordering: .relaxed)
    content.onEnd { [weak self] _ in self?.remove(number) }
    // The account may have signed out before the observation began.
    await check()
  }

  private func remove(_ number: UInt64) {
    let (stream, observation) = state.withLock { state in
      let stream = state.streams.removeValue(forKey: number)
      guard state.streams.isEmpty else { return (stream, nil as UInt64?) }
      defer { state.observation = nil }
      return (stream, state.observation)
    }
    if stream != nil { count.subtract(1, ordering: .relaxed) }
    if let observation { source.principalChanges?.remove(observation) }
  }

  private func sourceChanged() {
    guard let context = state.withLock({ $0.streams.values.first?.context }) else { return }
    context.spawnDetached { await self.check() }
  }

  /// Notes a read of the store: checks the streams if some belong to another account.
  func saw(_ principal: UInt64) async {
    guard count.load(ordering: .relaxed) > 0 else { return }
    if state.withLock({ $0.streams.values.contains { $0.principal != principal } }) { await check() }
  }

  /// Ends the streams of accounts that are no longer signed in.
  func check() async {
    // Streams that are opened during the read may belong to an account that the read does not return yet.
    let streams = state.withLock { Array($0.streams.values) }
    guard !streams.isEmpty, let now = try? await source.current() else { return }
    for stream in streams where stream.principal != now.principal {
      var error = PrincipalChangedError.error
      error.requestState = .responded
      stream.interrupt(error)
    }
  }
}
