import ApusCore
import ApusMiddleware
import ApusTesting
import TestSupport

extension TestClient {
  /// The same with its calls scheduled.
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
  /// Asks for nothing, under a name.
  static func step(_ name: String) -> Self { .get("/\(name)") }
}
