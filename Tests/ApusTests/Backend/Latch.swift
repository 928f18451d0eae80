import ApusTestServer
import ApusTesting

/// A gate for responses of the stub and of the test server.
final class Latch: Sendable {
  let stub = Gate()
  let server = Gate()

  /// Releases all responses, now and later.
  func open() {
    stub.open()
    server.open()
  }

  /// Releases a number of responses, in order of arrival.
  func release(_ count: Int = 1) {
    stub.release(count)
    server.release(count)
  }
}
