/// Yields to other tasks while a condition holds.
///
/// - Throws: `CancellationError` when the test is cancelled, for example at its time limit.
func waitWhile(_ condition: @autoclosure () -> Bool) async throws {
  while condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
