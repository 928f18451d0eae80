/// The error of a wait whose condition was not met in time.
public struct WaitTimeout: Error {}

/// Yields to other tasks while a condition holds, for example while too few calls are waiting.
///
/// - Throws: ``WaitTimeout`` after three minutes; `CancellationError` if the task is cancelled; any error the condition
///   throws.
public func waitWhile(_ condition: @autoclosure () throws -> Bool) async throws {
  try await waitWhile { () async throws in try condition() }
}

/// Yields to other tasks while an asynchronous condition holds.
///
/// - Throws: ``WaitTimeout`` after three minutes; `CancellationError` if the task is cancelled; any error the condition
///   throws.
public func waitWhile(_ condition: () async throws -> Bool) async throws {
  let limit = ContinuousClock.now + .seconds(180)
  while try await condition() {
    try Task.checkCancellation()
    guard ContinuousClock.now < limit else { throw WaitTimeout() }
    await Task.yield()
  }
}
