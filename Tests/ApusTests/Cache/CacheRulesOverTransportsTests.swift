import Apus
import ApusTestServer
import ApusTesting
import HTTP2Gateway
import HTTPTypes
import LoopbackConformance
import Synchronization
import TestSupport
import Testing

@testable import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Rules of the cache over transports")
struct CacheRulesOverTransportsTests {
  enum Way: CaseIterable {
    case http1, http2
    /// Behind a middleware that could change the message, so that no call skips the cache.
    case behindMiddleware
  }

  @Test("A client with a cache follows RFC 9111", arguments: CacheScenario.all, Way.allCases)
  func rules(scenario: CacheScenario, way: Way) async throws {
    let replies = Replies()
    try await TestServer.with { _ in
      replies.next()
    } body: { server in
      try await withGateway(way == .http2 ? HTTP2Gateway.start : nil, to: server) { gateway in
        let run = CacheScenarioRun(LoopbackRecorder(server: server, gateway: gateway), replies, way)
        for (number, step) in scenario.steps.enumerated() { try await run.perform(step, "step \(number + 1)") }
      }
    }
  }

  /// The replies of the server to the next requests.
  final class Replies: Sendable {
    private let replies = Mutex<[Reply]>([])

    func append(_ reply: Reply) { replies.withLock { $0.append(reply) } }
    func next() -> Reply { replies.withLock { $0.isEmpty ? .status(418) : $0.removeFirst() } }
  }
}

/// A client of one server, and the clocks of its cache.
private struct CacheScenarioRun {
  private struct Outcome {
    var status = 0
    var text = ""
    var fields: [String: String] = [:]
    var decision = ""
    var error: CallError.Code?
  }

  private let server: TestServer
  private let replies: CacheRulesOverTransportsTests.Replies
  private let clock = ManualClock(.manual)
  private let cache: ResponseCache
  private let client: Client

  init(
    _ recorder: LoopbackRecorder, _ replies: CacheRulesOverTransportsTests.Replies,
    _ way: CacheRulesOverTransportsTests.Way
  ) {
    (server, self.replies) = (recorder.server, replies)
    let clock = clock
    // The clock starts at midnight, January 1st, 2026.
    let start = Date(timeIntervalSince1970: 1_767_225_600)
    let cache = ResponseCache(.memory(), account: nil, CacheRules()) {
      start.addingTimeInterval(Double(clock.now.sinceStart.components.seconds))
    }
    self.cache = cache
    client = Client(baseURL: recorder.baseURL, transport: recorder.transport()) {
      ($0.cache, $0.clock, $0.retry, $0.timeout, $0.attemptTimeout) = (cache, clock, .none, nil, nil)
      if way == .behindMiddleware { $0.putCacheBehindMiddleware() }
    }
  }

  func perform(_ step: CacheScenario.Step, _ place: Comment) async throws {
    clock.advance(by: .seconds(step.delay))
    let before = server.exchanges.count
    if let reply = step.reply { replies.append(reply) }
    let outcome = await outcome(of: step)
    if step.isInBackground {
      try await server.exchanges(atLeast: before + 1)
      try await waitWhile(cache.revalidations.withLock { $0.runningCount } > 0)
    }
    #expect(outcome.error == step.error, place)
    #expect(outcome.status == step.status, place)
    if step.error == nil { #expect(outcome.text == step.text, place) }
    if let decision = step.decision { #expect("\(outcome.decision); ".hasPrefix("Apus; \(decision); "), place) }
    for (name, value) in step.received { #expect(outcome.fields[name.lowercased()] ?? "" == value, place) }
    let requests = server.exchanges.dropFirst(before)
    #expect(requests.count == (step.reply == nil ? 0 : 1), place)
    for (name, value) in step.sent { #expect(requests.first?.field(name) ?? "" == value, place) }
  }

  private func outcome(of step: CacheScenario.Step) async -> Outcome {
    var outcome = Outcome()
    do throws(CallError) {
      if step.isStreamed {
        (outcome.status, outcome.text) = try await client.withResponse(to: request(of: step)) { response in
          (response.status, String(decoding: try await response.collect(), as: UTF8.self))
        }
        return outcome
      }
      let response = try await client.response(to: request(of: step))
      (outcome.status, outcome.text) = (response.status, response.value)
      outcome.decision = response.cacheStatus?.description ?? ""
      for field in response.fields { outcome.fields[field.name.canonicalName] = field.value }
    } catch {
      (outcome.error, outcome.status) = (error.code, error.status ?? 0)
    }
    return outcome
  }

  private func request(of step: CacheScenario.Step) -> Request<String> {
    let method = HTTPRequest.Method(rawValue: step.method) ?? .get
    var request = Request<String>(method: method, path: RequestPath(stringLiteral: step.path), mapping: .decoded)
    if let content = step.content { request = request.content(.text(content)) }
    for (name, value) in step.fields { request = request.field(name, value) }
    if let policy = step.policy { request = request.cache(policy) }
    return request.accepting(.any)
  }
}
