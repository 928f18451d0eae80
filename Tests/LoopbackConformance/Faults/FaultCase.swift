import ApusCore
package import ApusTestServer
import ApusTesting
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A fault of the matrix, with a framing of the response.
///
/// The fault affects the first connection or request. The next call must succeed on the same transport, and no resource
/// may be leaked.
package struct FaultCase: Sendable, CustomStringConvertible {
  /// The framing of the response's content.
  package enum Framing: String, Sendable, CaseIterable {
    case counted, chunked
  }

  /// The fault, without its scope.
  package let fault: Fault
  /// The framing of the response's content.
  package let framing: Framing

  /// All cases.
  package static let all = Fault.matrix.flatMap { fault in
    Framing.allCases.map { FaultCase(fault: fault, framing: $0) }
  }

  /// Effect, trigger and framing.
  package var description: String { "\(fault), \(framing)" }

  private static let text = "abcdefghijklmnopqrstuvwxyz"

  private var reply: Reply {
    let bytes = Array(Self.text.utf8)
    return framing == .counted ? .status(200, content: bytes) : .chunked([bytes])
  }

  /// Causes the fault and returns the outcome of the call.
  ///
  /// - Throws: the error of ``TransportKind/run(_:_:_:body:)`` for leaked resources; the error of the next call.
  package func outcome(on kind: TransportKind) async throws -> FaultOutcome {
    let gate = Gate()
    let clock = ManualClock(.manual)
    var settings = ClientSettings()
    settings.runtime.clock = clock
    settings.contentLimit = 64 << 10
    let options = TestServer.Options(faults: [suffered(stallingAt: gate)])
    let reply = reply
    return try await kind.run(options, settings) { _ in
      reply
    } body: { server, client in
      let call = Task { try await client.send(Self.question.content(.text("hello world"))) }
      if case .stall = fault.effect {
        try await gate.waitForArrivals(1)
        // A stall after the response does not affect the call.
        if fault.trigger != .end { clock.advance(by: .seconds(2)) }
      }
      let outcome = await FaultOutcome(of: call, expecting: Self.text)
      gate.open()
      if mustDrop(after: outcome), !kind.gaps.contains(.idleConnections) {
        try await server.wait { $0.openConnections == 0 }
      }
      let next = try await client.send(Self.question)
      guard String(decoding: next.data, as: UTF8.self) == Self.text else {
        throw ConformanceFailure("the next call was answered \(next.data.count) other bytes")
      }
      return outcome
    }
  }

  /// The request of the call. The method is POST, because transports do not resend a POST.
  private static var question: Request<Content> {
    Request(method: .post, path: "/", mapping: .content).accepting(.any).timeout(.seconds(1))
  }

  /// Returns the fault with the scope under test.
  private func suffered(stallingAt gate: Gate) -> Fault {
    var fault = fault
    fault.scope = fault.trigger == .connect ? .connection(0) : .request(0)
    if case .stall = fault.effect { fault.effect = .stall(until: gate) }
    return fault
  }

  /// Whether the connection cannot be reused although the call has its response, because unsolicited bytes arrived or
  /// the server closed the connection.
  private func mustDrop(after outcome: FaultOutcome) -> Bool {
    if outcome == .otherContent { return true }
    switch fault.effect {
    case .stall, .throttle: return false
    case .close, .halfClose, .reset, .truncate, .garbage, .flood: return fault.trigger == .end
    }
  }
}
