import ApusTesting

#if NIO
import ApusTestServer
#endif

/// A gate for responses of the stub and of the test server.
final class Latch: Sendable {
  let stub = Gate()
  #if NIO
  let server = Gate()
  #endif

  /// Releases all responses, now and later.
  func open() {
    stub.open()
    #if NIO
    server.open()
    #endif
  }

  /// Releases a number of responses, in order of arrival.
  func release(_ count: Int = 1) {
    stub.release(count)
    #if NIO
    server.release(count)
    #endif
  }
}
