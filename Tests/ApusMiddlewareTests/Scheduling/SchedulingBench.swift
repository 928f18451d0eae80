import ApusCore
import ApusMiddleware
import ApusTesting
import TestSupport

extension TestClient {
  /// Returns the client with a scheduler.
  func scheduled(by scheduler: Scheduler) -> TestClient {
    var client = self
    client.customize = { $0.insert(SchedulingMiddleware(scheduler), .after(.scheduling)) }
    return client
  }
}

extension Scheduler {
  /// Waits until a number of calls are queued.
  func waitForWaiting(_ count: Int) async throws {
    try await waitWhile(queuedCount < count)
  }
}

extension Endpoint where Self == Request<Void> {
  /// Returns a request with a name as its path.
  static func step(_ name: String) -> Self { .get("/\(name)") }
}
