import ApusTesting

#if NIO
  import ApusTestServer
#endif

/// Holds answers back until a test lets them go, over whatever they come.
final class Latch: Sendable {
  let stub = ApusTesting.Gate()
  #if NIO
    let server = ApusTestServer.Gate()
  #endif

  /// Lets all answers go, now and later.
  func open() {
    stub.open()
    #if NIO
      server.open()
    #endif
  }

  /// Lets so many answers go, those first that came first.
  func release(_ count: Int = 1) {
    stub.release(count)
    #if NIO
      server.release(count)
    #endif
  }
}
