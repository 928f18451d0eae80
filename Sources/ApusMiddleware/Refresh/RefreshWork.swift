import Synchronization

/// Marks the tasks that do the work of a refresh: a call that they make must not wait for itself.
///
/// A task that outlives the work is one like any other again.
final class RefreshWork: Sendable {
  @TaskLocal private static var current: RefreshWork?

  private let refresher: Refresher
  private let isOver = Atomic(false)

  private init(of refresher: Refresher) {
    self.refresher = refresher
  }

  /// Whether the present task does the work of a refresher, or of another with the same source, which lends itself to
  /// one at a time.
  static func isDone(by refresher: Refresher) -> Bool {
    guard let current, !current.isOver.load(ordering: .acquiring) else { return false }
    return SourceIdentity(current.refresher.source, elseOf: current.refresher)
      == SourceIdentity(refresher.source, elseOf: refresher)
  }

  /// Does work that is marked.
  static func mark<Value: Sendable>(_ refresher: Refresher, _ work: () async throws -> Value) async throws -> Value {
    let mark = RefreshWork(of: refresher)
    defer { mark.isOver.store(true, ordering: .releasing) }
    return try await $current.withValue(mark) { try await work() }
  }
}
