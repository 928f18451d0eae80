#if NIO
  public import ApusCore
  import NIOCore
  import NIOPosix

  /// Sends messages over SwiftNIO's sockets with HTTP/1.1: Linux's transport.
  ///
  /// It keeps no cookies, no cache and no credentials and follows no redirect; what an answer says is not judged
  /// here, but how it is framed is: an answer that breaks RFC 9112 is refused. Connections are kept per origin and
  /// used again. Cancelling the task closes the exchange's connection at once.
  ///
  /// Content that was coded with gzip or deflate arrives decoded: `Content-Encoding` and `Content-Length` are then taken
  /// off the head, so that a head never describes other bytes than its content has.
  ///
  /// A transport that nobody holds any more closes its connections; ``shutDown(within:)`` does it in good order.
  public final class NIOTransport: Transport {
    let core: TransportCore

    /// It does: a call that ends while it waits for its connection is known not to be sent.
    public var reportsConnections: Bool { true }

    /// Makes a transport; nothing is opened yet.
    public init(options: Options = Options()) {
      core = TransportCore(options: options)
    }

    init(options: Options, resolver: NameResolver) {
      core = TransportCore(options: options, resolver: resolver)
    }

    /// Sends a message and returns at the head of the answer, or with all of it where the call wants its content in
    /// memory.
    ///
    /// - Throws: ``TransportError``; `CancellationError` at once when the task is cancelled, however far the exchange
    ///   is: its connection is closed, and nothing is sent when it had not begun.
    public func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
      try Task.checkCancellation()
      let exchange = Exchange(try PreparedRequest(request, core: core), context: context, core: core)
      var alarm: DeadlineAlarm?
      defer { alarm?.cancel() }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation {
          exchange.begin($0)
          // Only now: before, there is nothing to end.
          alarm = context.alarm(for: exchange)
        }
      } onCancel: {
        exchange.cancel()
      }
    }

    /// Closes the transport: messages sent from now on are refused, exchanges that run may end.
    ///
    /// - Parameter grace: how long exchanges that run may take; those that take longer fail with a ``TransportError``
    ///   of the kind `broken`. Default: none at all.
    ///
    /// When it returns, every connection is closed. A second time does nothing but wait. It completes even in a
    /// cancelled task, which only ends the grace.
    public func shutDown(within grace: Duration = .zero) async {
      await core.shutDown(within: grace)
    }

    deinit {
      core.close()
    }
  }
#endif
