import ApusCore
import ApusTesting
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A client over a stub, with a manual clock, an optional executor and the observers of a test.
struct CallBench {
  let stub = StubTransport()
  let clock = ManualClock(.manual)
  let log = EventLog()
  let api: Client

  init(
    executor: (any TaskExecutor)? = nil, middlewares: [(any Middleware, Slot)] = [], observers: [any CallObserver] = []
  ) {
    var settings = ClientSettings()
    settings.runtime = Runtime(clock: clock, executor: executor)
    settings.observers = [log] + observers
    var pipeline = Pipeline()
    pipeline.insert(ObeyTimeouts(), .before(.timeout))
    for (middleware, slot) in middlewares { pipeline.insert(middleware, .after(slot)) }
    api = Client(
      environment: Environment(baseURL: "https://x.test"), pipeline: pipeline, transport: stub, settings: settings)
  }

  /// Whether all calls and exchanges have ended.
  var isClean: Bool { api.calls.isEmpty && stub.openExchanges.isEmpty }
}

/// A middleware that limits each call to the timeout of the call.
struct ObeyTimeouts: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    if let timeout = context.call.timeout { context.limit(to: context.call.startInstant.advanced(by: timeout)) }
    return try await next(request, context: context)
  }
}

/// A middleware that runs a closure.
struct Doing: Middleware {
  let work: @Sendable (RequestMessage, CallContext, Next) async throws -> ResponseMessage

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await work(request, context, next)
  }
}

/// An observer that records the events of all calls.
final class EventLog: CallObserver {
  private let all = Mutex<[(serial: UInt64, kind: TraceEvent.Kind)]>([])

  func observe(_ event: TraceEvent, of call: CallEntry) {
    all.withLock { $0.append((call.serial, event.kind)) }
  }

  /// The events of all calls, without progress events.
  var events: [String] {
    all.withLock { $0 }.map(\.kind.description).filter { !$0.hasPrefix("received ") && !$0.hasPrefix("sent ") }
  }

  /// The last event of each ended call, in order.
  var ends: [(serial: UInt64, kind: TraceEvent.Kind)] { all.withLock { $0 }.filter(\.kind.isEnd) }
}

extension TraceEvent.Kind {
  var isEnd: Bool {
    switch self {
    case .succeeded, .failed: true
    default: false
    }
  }
}

extension Client {
  /// Sends an endpoint and returns the value or the error.
  func result<E: Endpoint>(of endpoint: E) async -> Result<E.Value, CallError> {
    do throws(CallError) {
      return .success(try await send(endpoint))
    } catch {
      return .failure(error)
    }
  }
}

extension Result where Failure == CallError {
  var error: CallError? {
    if case .failure(let error) = self { return error }
    return nil
  }
}

extension ResponseMessage {
  /// Returns a response with text in memory.
  static func text(_ text: String, _ head: HTTPResponse = HTTPResponse(status: .ok)) -> ResponseMessage {
    ResponseMessage(head: head, content: ResponseContent(Data(text.utf8)))
  }
}
