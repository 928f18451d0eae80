import ApusTesting
import HTTPTypes
import TestSupport

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A client over a stub for tests of streams. Its delays have no jitter: without a reconnection time of the server they
/// are zero.
struct StreamBench {
  let stub = StubTransport()
  let clock = ManualClock(.manual)
  let log = EventLog()
  let api: Client

  init(
    random: UInt64 = 0, environment: Environment = Environment(baseURL: "https://x.test"),
    executor: (any TaskExecutor)? = nil
  ) {
    var settings = ClientSettings()
    settings.runtime = Runtime(clock: clock, executor: executor, random: { random })
    settings.observers = [log]
    var pipeline = Pipeline()
    pipeline.insert(ObeyTimeouts(), .before(.timeout))
    api = Client(environment: environment, pipeline: pipeline, transport: stub, settings: settings)
  }

  /// Whether all calls and exchanges have ended.
  var isClean: Bool { api.calls.isEmpty && stub.openExchanges.isEmpty }

  /// The fields `Last-Event-ID` of all requests.
  var lastEventIDs: [String?] {
    stub.exchanges.map { exchange in HTTPField.Name("Last-Event-ID").flatMap { exchange.fields[$0] } }
  }

  /// Waits until a call waits for its next connection or poll, and returns the time to wait.
  ///
  /// Sleepers for a minute or more belong to timeouts.
  func nextDelay() async throws -> Duration {
    func delay() -> Duration? { clock.nextWake.map { clock.now.duration(to: $0) } }
    try await waitWhile((delay() ?? .endless) > .seconds(60))
    return delay() ?? .endless
  }

  /// Stubs the replies to consecutive requests. The last reply is 204, which ends an event stream.
  func reply(_ replies: StubReply...) {
    stub.on(.get, "/events", replies: replies + [.status(204)])
  }
}

extension StubReply {
  /// An event stream in pieces.
  static func events(_ pieces: String..., gate: Gate? = nil) -> StubReply {
    .pieces(pieces, gate: gate, fields: [.contentType: "text/event-stream"])
  }
}

extension Endpoint where Self == Request<EventStream<String>> {
  static var events: Self { .get("/events") }
}

extension LiveStream {
  /// Returns the elements up to the end or an error.
  func all() async -> (elements: [Element], error: CallError?) {
    var elements: [Element] = []
    do throws(CallError) {
      for try await element in self { elements.append(element) }
      return (elements, nil)
    } catch {
      return (elements, error)
    }
  }
}

extension AsyncIteratorProtocol where Failure == CallError {
  /// Returns the error of the next element, or `nil` if there is none.
  mutating func failure(isolation: isolated (any Actor)? = #isolation) async -> CallError? {
    do throws(CallError) {
      _ = try await next(isolation: isolation)
      return nil
    } catch {
      return error
    }
  }
}
