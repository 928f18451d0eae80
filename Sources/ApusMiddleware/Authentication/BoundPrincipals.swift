import ApusCore
import Synchronization

/// The principals that a call is bound to: the content of each authentication's store when the call began.
struct BoundPrincipals: Sendable {
  private struct Entry: Sendable {
    let authentication: ObjectIdentifier
    let stored: Result<StoredCredential, any Error>

    var principal: UInt64 {
      if case .success(let stored) = stored { return stored.principal }
      return PrincipalKey.unreadable
    }
  }

  private var entries: [Entry] = []

  /// Reads the stores of all authentications whose credentials the call may carry.
  ///
  /// - Throws: `CancellationError` when the call is cancelled. An error of a store is thrown later, if its credentials
  ///   are needed.
  init(_ authentications: [Authentication], for request: RequestMessage) async throws {
    for authentication in authentications {
      // Skips authentications that the call overrides, or that the current task is refreshing.
      if authentication.isRefreshing || authentication.isOverridden(by: request) { continue }
      let stored: Result<StoredCredential, any Error>
      do {
        stored = .success(try await authentication.read())
      } catch let error as CancellationError {
        throw error
      } catch {
        stored = .failure(error)
      }
      entries.append(Entry(authentication: authentication.id, stored: stored))
    }
  }

  /// The content of the store, or the error of reading the store; `nil` if the call is not bound to the
  /// authentication's principal.
  subscript(authentication: Authentication) -> Result<StoredCredential, any Error>? {
    let id = authentication.id
    return entries.first { $0.authentication == id }?.stored
  }

  /// A combined id of all bound principals; `nil` if there are none.
  var combined: UInt64? {
    guard entries.count != 1 else { return entries[0].principal }
    var hasher = Hasher()
    for entry in entries { hasher.combine(entry.principal) }
    return entries.isEmpty ? nil : UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

/// The principals that a call is bound to.
enum BoundPrincipalsKey: ContextKey {
  static let defaultValue: BoundPrincipals? = nil
  /// Coalescing compares ``CallContext/principal``.
  static let affectsCoalescing = false
}

extension [Authentication] {
  /// Binds a call to the principals whose credentials the call may carry.
  ///
  /// - Returns: a combined id of the principals; `nil` if the call carries no credentials.
  func bind(_ context: inout CallContext, _ request: RequestMessage) async throws -> UInt64? {
    guard context.values[CredentialsPolicyKey.self] != .none else { return nil }
    let principals = try await BoundPrincipals(self, for: request)
    context.values[BoundPrincipalsKey.self] = principals
    return principals.combined
  }
}

/// The open streamed responses of one authentication. They end when their principal signs out.
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

  private let store: any CredentialsStore
  private let state = Mutex(State())
  /// The number of streams, readable without the lock.
  private let count = Atomic(0)

  init(of store: any CredentialsStore) {
    self.store = store
  }

  /// Ends a response's content when its principal signs out, unless the content has ended before.
  func add(_ content: ResponseContent, of principal: UInt64, _ context: CallContext) async {
    let number = state.withLock { state in
      state.next += 1
      let stream = Stream(principal: principal, interrupt: content.discardAction, context: context)
      state.streams[state.next] = stream
      if state.observation == nil {
        state.observation = store.principalChanges?.observe { [weak self] in self?.storeChanged() }
      }
      return state.next
    }
    count.add(1, ordering: .relaxed)
    content.onEnd { [weak self] _ in self?.remove(number) }
    // The principal may have signed out before the observation began.
    await endOutdated()
  }

  private func remove(_ number: UInt64) {
    let (stream, observation) = state.withLock { state in
      let stream = state.streams.removeValue(forKey: number)
      guard state.streams.isEmpty else { return (stream, nil as UInt64?) }
      defer { state.observation = nil }
      return (stream, state.observation)
    }
    if stream != nil { count.subtract(1, ordering: .relaxed) }
    if let observation { store.principalChanges?.remove(observation) }
  }

  private func storeChanged() {
    guard let context = state.withLock({ $0.streams.values.first?.context }) else { return }
    context.spawnDetached { await self.endOutdated() }
  }

  /// Ends outdated streams after a read of the store that returned a principal.
  func storeReturned(_ principal: UInt64) async {
    guard count.load(ordering: .relaxed) > 0 else { return }
    if state.withLock({ $0.streams.values.contains { $0.principal != principal } }) { await endOutdated() }
  }

  /// Ends the streams of principals that are no longer signed in.
  func endOutdated() async {
    // Streams that are opened during the read may belong to a principal that the read does not return yet.
    let streams = state.withLock { Array($0.streams.values) }
    guard !streams.isEmpty, let now = try? await store.current() else { return }
    for stream in streams where stream.principal != now.principal {
      var error = PrincipalChangedError.error
      error.requestState = .responded
      stream.interrupt(error)
    }
  }
}
