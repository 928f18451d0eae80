public import ApusCore

/// Sends messages through `URLSession`.
public struct URLSessionTransport: Transport {
  /// Makes a transport.
  public init() {}

  /// Sends a message.
  public func send(_ request: RequestMessage, context: CallContext) async throws -> ResponseMessage {
    throw TransportError(.unsupported, requestState: .notSent)
  }
}
