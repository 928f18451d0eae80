public import Apus

/// A transport that passes each request to a function in this process, in place of a server: for previews, for tests of
/// a server's handlers, and for apps that contain their server.
///
/// ```swift
/// let api = Client(
///   baseURL: "http://app.test",
///   transport: InProcessTransport { request in
///     HandlerResponse(HTTPResponse(status: .ok), content: Data("Hello from \(request.head.path ?? "/")".utf8))
///   })
/// ```
///
/// The content (body) of a request is collected in memory before the handler is called. The content of a response may
/// be produced piece by piece, and no faster than the app reads it. Each handler runs in its own task, which is
/// cancelled if the exchange ends early.
///
/// The transport does not support these capabilities of `TransportConformance`, which need a connection: interim
/// responses, framing, codings, and back-pressure for the content of requests.
public struct InProcessTransport: Transport {
  /// A function that responds to requests.
  ///
  /// A `TransportError` that it throws becomes the error of the exchange; any other error is treated as a lost
  /// connection.
  public typealias Handler = @Sendable (HandlerRequest) async throws -> HandlerResponse

  private let handler: Handler

  /// Creates a transport.
  public init(handler: @escaping Handler) {
    self.handler = handler
  }

  /// Passes the request to the handler.
  ///
  /// - Throws: `TransportError`; `CancellationError` as soon as the task is cancelled.
  public func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    return try await InProcessExchange(request, context, handler).response()
  }
}
