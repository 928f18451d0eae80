#if NIO && ServiceLifecycle
  public import ServiceLifecycle

  /// Shuts a transport down in good order with the service group it belongs to.
  ///
  /// Put it before the services that send calls: a group ends its services in the opposite order, so that the transport
  /// is there until they have ended. Needs the trait `ServiceLifecycle`.
  ///
  /// - Cancellation: ends what runs at once, as the end of the group's own patience does.
  public struct TransportService: Service {
    private let transport: NIOTransport
    private let grace: Duration

    init(_ transport: NIOTransport, grace: Duration) {
      self.transport = transport
      self.grace = grace
    }

    /// Waits for the group to shut down, then shuts the transport down.
    public func run() async {
      // Cancelled or asked: both end the service, and only one leaves time.
      try? await gracefulShutdown()
      await transport.shutDown(within: grace)
    }
  }

  extension NIOTransport {
    /// The transport as a service: when its group shuts down, messages are refused with the code `declined`, and
    /// exchanges that run may end.
    ///
    /// - Parameter grace: how long exchanges that run may take then; those that take longer fail with the code `broken`.
    ///   Default: 30 seconds.
    public func service(grace: Duration = .seconds(30)) -> TransportService {
      TransportService(self, grace: grace)
    }
  }
#endif
