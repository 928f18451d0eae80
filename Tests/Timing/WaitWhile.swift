/// What a test waited for did not come.
public struct Impatience: Error {}

/// Lets other tasks run for as long as something is so, such as that too few calls wait.
///
/// A test that would wait for ever ends after three minutes, and is named by its failure.
///
/// - Throws: ``Impatience``; `CancellationError` when the task is cancelled.
public func waitWhile(_ isSo: @autoclosure () throws -> Bool) async throws {
  let limit = ContinuousClock.now + .seconds(180)
  while try isSo() {
    try Task.checkCancellation()
    guard ContinuousClock.now < limit else { throw Impatience() }
    await Task.yield()
  }
}
