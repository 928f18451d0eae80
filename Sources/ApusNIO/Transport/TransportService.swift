#if ServiceLifecycle
public import ServiceLifecycle

/// A service that shuts a transport down gracefully together with its service group.
///
/// Put the service before the services that send calls: a group ends its services in reverse order, so that the
/// transport outlives them. Needs the trait `ServiceLifecycle`.
///
/// - Cancellation: current exchanges end immediately. The group cancels the service when its own grace period ends.
public struct TransportService: Service {
  private let transport: NIOTransport
  private let grace: Duration

  init(_ transport: NIOTransport, grace: Duration) {
    self.transport = transport
    self.grace = grace
  }

  /// Waits for the group's shutdown, then shuts the transport down.
  public func run() async {
    // Cancellation and graceful shutdown both end the service; only graceful shutdown has a grace period.
    try? await gracefulShutdown()
    await transport.shutDown(within: grace)
  }
}

extension NIOTransport {
  /// Returns a service that shuts the transport down with its group: new messages fail with the code `refused`, and
  /// current exchanges may finish.
  ///
  /// - Parameter grace: the time in which current exchanges may finish; then they fail with the code
  ///   `connectionLost`. Default: 30 seconds.
  public func service(grace: Duration = .seconds(30)) -> TransportService {
    TransportService(self, grace: grace)
  }
}
#endif
