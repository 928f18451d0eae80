import Apus
import ApusTesting
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Answers at once: what is left is the cost of a call above its transport.
struct NoTransport: Transport {
  let content: ResponseContent

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    ResponseMessage(head: HTTPResponse(status: .ok), content: content)
  }
}

/// A middleware that does nothing but pass on.
struct PassOn: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: context)
  }
}

struct Ignoring: CallObserver {
  func observe(_ event: TraceEvent, of call: CallEntry) {}
}

struct Small: Codable, Sendable {
  let id: Int
  let name: String
}

/// Answers when its gate opens: keeps calls in flight.
struct HeldTransport: Transport {
  let gate: Gate

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try await gate.wait()
    return ResponseMessage(head: HTTPResponse(status: .ok))
  }
}
