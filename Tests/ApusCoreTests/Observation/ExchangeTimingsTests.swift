import HTTPTypes
import Testing

@testable import ApusCore

@Suite("Exchange timings")
struct ExchangeTimingsTests {
  private func trace(_ events: [(Int, TraceEvent.Kind, attempt: Int)]) -> Trace {
    Trace(
      id: CallID("call"), endpoint: EndpointIdentity(method: .get, template: "/"),
      events: events.map { time, kind, attempt in
        TraceEvent(kind: kind, instant: MonotonicInstant(sinceStart: .milliseconds(time)), attempt: attempt)
      })
  }

  @Test("The phases of an exchange are measured between its events")
  func parts() throws {
    let exchange = try #require(
      trace([
        (0, .started, 1), (1, .exchangeStarted, 1), (50, .phase(.queued, .milliseconds(3)), 1),
        (50, .phase(.nameLookup, .milliseconds(10)), 1), (50, .phase(.connecting, .milliseconds(20)), 1),
        (50, .phase(.tlsHandshake, .milliseconds(16)), 1), (50, .connected(reused: false), 1), (52, .requestSent, 1),
        (60, .firstByteArrived, 1), (61, .headArrived(status: 200), 1), (70, .contentArrived(length: 5), 1),
      ]).exchanges.first)
    #expect(exchange.start.sinceStart == .milliseconds(1))
    #expect(exchange.queued == .milliseconds(3))
    #expect(exchange.nameLookup == .milliseconds(10))
    #expect(exchange.connecting == .milliseconds(20))
    #expect(exchange.tlsHandshake == .milliseconds(16))
    #expect(exchange.sending == .milliseconds(2))
    #expect(exchange.waiting == .milliseconds(8))
    #expect(exchange.receiving == .milliseconds(10))
  }

  @Test("Timings that a transport does not report are nil, not zero")
  func unknown() throws {
    let exchange = try #require(
      trace([(0, .exchangeStarted, 1), (5, .headArrived(status: 200), 1), (9, .contentArrived(length: 0), 1)])
        .exchanges.first)
    #expect(exchange.queued == nil && exchange.nameLookup == nil && exchange.connecting == nil)
    #expect(exchange.tlsHandshake == nil && exchange.sending == nil && exchange.waiting == nil)
    #expect(exchange.receiving == .milliseconds(4))
  }

  @Test("An exchange whose response starts before the request is complete has no waiting time")
  func early() throws {
    let exchange = try #require(
      trace([
        (0, .exchangeStarted, 1), (1, .connected(reused: true), 1), (5, .headArrived(status: 413), 1),
        (7, .requestSent, 1),
      ]).exchanges.first)
    #expect(exchange.waiting == .zero)
    #expect(exchange.sending == .milliseconds(6))
  }

  @Test("Each exchange of a call has its own timings, and a resent request is measured from its last connection")
  func several() {
    let exchanges = trace([
      (0, .exchangeStarted, 1), (1, .connected(reused: true), 1), (2, .requestSent, 1), (3, .resent, 1),
      (10, .connected(reused: false), 1), (12, .requestSent, 1), (15, .headArrived(status: 503), 1),
      (20, .exchangeStarted, 2), (21, .connected(reused: true), 2), (24, .requestSent, 2),
      (30, .headArrived(status: 302), 2), (31, .exchangeStarted, 2), (32, .connected(reused: true), 2),
      (33, .requestSent, 2), (40, .headArrived(status: 200), 2),
    ]).exchanges
    #expect(exchanges.map(\.attempt) == [1, 2, 2])
    #expect(exchanges.map(\.sending) == [2, 3, 1].map { .milliseconds($0) })
    #expect(exchanges.map(\.waiting) == [3, 6, 7].map { .milliseconds($0) })
  }
}
