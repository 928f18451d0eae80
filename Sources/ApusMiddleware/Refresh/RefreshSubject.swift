import ApusCore
import Synchronization

/// The account whose credentials a ``Refresher`` replaces, from the view of one call.
protocol RefreshAccount: Sendable {
  /// The origins whose calls may refresh; `nil`: the origin where the credentials were used first.
  var origins: Set<Origin>? { get }

  /// Reads the credentials.
  ///
  /// - Throws: if they now belong to another principal, or cannot be read.
  func read(as principal: UInt64) async throws -> StoredCredential

  /// Notifies the app of the call's client that the session is over.
  ///
  /// - Parameter next: the current generation.
  func sessionEnded(_ subject: RefreshSubject, next: UInt64)
}

/// Credentials that a call is about to use or was rejected with.
struct RefreshSubject: Sendable {
  let stored: StoredCredential
  let account: any RefreshAccount
  let context: CallContext
  /// The origin of the message.
  let origin: Origin?

  var generation: UInt64 { stored.generation }

  private func with(_ stored: StoredCredential) -> RefreshSubject {
    RefreshSubject(stored: stored, account: account, context: context, origin: origin)
  }

  /// The maximum number of refreshes before a message is sent: new tokens may have expired on arrival.
  private static let limit = 2

  /// Returns the credentials to send. Waits while the current credentials are unusable.
  func current(_ refresher: Refresher) async throws -> StoredCredential {
    var (now, looks, rests) = (self, 0, 0)
    while looks < Self.limit, now.stored.credential != nil {
      switch try await refresher.prepare(now, after: rests) {
      case .go: return now.stored
      case .look: looks += 1
      case .rested: rests += 1
      }
      now = now.with(try await account.read(as: stored.principal))
    }
    return now.stored
  }

  /// Returns the credentials to send after a rejection; `nil`: there are no other credentials.
  func next(_ refresher: Refresher) async throws -> StoredCredential? {
    for rests in 0... {
      let current = try await account.read(as: stored.principal)
      switch try await refresher.rejected(self, current: current.generation, after: rests) {
      case .rested: continue
      case .go: return nil
      case .look:
        let renewed = try await account.read(as: stored.principal)
        return renewed.credential != nil && renewed.generation != generation ? renewed : nil
      }
    }
    return nil
  }
}

/// A mark on the tasks that do the work of a refresh. Calls made by these tasks must not wait for the refresh.
///
/// The mark has no effect on a task that outlives the work.
final class RefreshWork: Sendable {
  @TaskLocal private static var current: RefreshWork?

  private let refresher: Refresher
  private let isOver = Atomic(false)

  private init(of refresher: Refresher) {
    self.refresher = refresher
  }

  /// Whether the current task does the work of a refresher, or of another refresher with the same store: only one of
  /// them can hold the store's lease.
  static func isDone(by refresher: Refresher) -> Bool {
    guard let current, !current.isOver.load(ordering: .acquiring) else { return false }
    return SourceIdentity(current.refresher.source, elseOf: current.refresher)
      == SourceIdentity(refresher.source, elseOf: refresher)
  }

  /// Does work with the mark.
  static func mark<Value: Sendable>(_ refresher: Refresher, _ work: () async throws -> Value) async throws -> Value {
    let mark = RefreshWork(of: refresher)
    defer { mark.isOver.store(true, ordering: .releasing) }
    return try await $current.withValue(mark) { try await work() }
  }
}
