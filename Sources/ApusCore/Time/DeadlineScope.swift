import Synchronization

/// Work with a deadline, as the calls see it that are made in it: a task-local value.
///
/// A task that outlives the work is bound by what is around it only.
final class DeadlineScope: Sendable {
  /// All that is done here, the outermost first. None keeps another: one that began inside may end later.
  @TaskLocal private static var scopes: [DeadlineScope] = []

  private let deadline: Deadline
  private let hasEnded = Atomic(false)

  private init(_ deadline: Deadline) {
    self.deadline = deadline
  }

  private var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  /// All that is done here and not over.
  static var here: [DeadlineScope] { scopes.filter { !$0.isOver } }

  /// What calls inherit that are made here: the nearest one of work that is not over.
  static func inherited(except others: [DeadlineScope] = []) -> Deadline? {
    scopes.reduce(nil) { nearest, scope in
      scope.isOver || others.contains { $0 === scope } ? nearest : scope.deadline.earlier(of: nearest)
    }
  }

  /// Does work whose calls inherit a deadline, or an earlier one that is in force here already.
  static func perform<Output, Failure: Error>(
    until deadline: Deadline, isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws(Failure) -> Output
  ) async -> Result<Output, Failure> {
    let scope = DeadlineScope(deadline)
    defer { scope.hasEnded.store(true, ordering: .releasing) }
    // What is over is not kept: tasks that begin each other in such work, again and again, would gather it.
    return await $scopes.withValue(here + [scope]) {
      // Captured, so that this runs where the caller runs: it would run on the global pool, and `work` with it.
      _ = isolation
      do throws(Failure) {
        return Result<Output, Failure>.success(try await work())
      } catch {
        return Result<Output, Failure>.failure(error)
      }
    }
  }

  /// Starts something that inherits no deadline.
  static func without<Output>(_ start: () -> Output) -> Output {
    scopes.isEmpty ? start() : $scopes.withValue([]) { start() }
  }
}
