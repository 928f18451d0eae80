import Apus
import ApusTesting
import Dispatch
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A transport that responds immediately, to measure the cost of a call above its transport.
struct NoTransport: Transport {
  let content: ResponseContent

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    ResponseMessage(head: HTTPResponse(status: .ok), content: content)
  }
}

/// A middleware that only forwards.
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

/// A transport that responds when its gate opens, to keep calls in flight.
struct HeldTransport: Transport {
  let gate: Gate

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try await gate.wait()
    return ResponseMessage(head: HTTPResponse(status: .ok))
  }
}

/// An executor that runs all jobs on one queue, to measure a call without thread switches.
final class OneThread: TaskExecutor {
  private let queue = DispatchQueue(label: "one thread")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
