#if NIO
  import ApusCore
  package import ApusTestServer
  import ApusTesting
  import HTTPTypes

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// One field of the fault matrix, with one way to frame the answer: what becomes of the call that suffers it?
  ///
  /// The fault happens to the first connection or request. The call after it must succeed on the same transport, and
  /// nothing may be left behind.
  public struct FaultCase: Sendable, CustomStringConvertible {
    /// How the answer's content is framed.
    public enum Framing: String, Sendable, CaseIterable {
      case counted, chunked
    }

    /// The fault; for everything.
    package let fault: Fault
    /// How the answer's content is framed.
    public let framing: Framing

    /// All of them.
    public static let all = Fault.matrix.flatMap { fault in
      Framing.allCases.map { FaultCase(fault: fault, framing: $0) }
    }

    /// Effect, trigger and framing.
    public var description: String { "\(fault), \(framing)" }

    private static let text = "abcdefghijklmnopqrstuvwxyz"

    private var reply: Reply {
      let bytes = Array(Self.text.utf8)
      return framing == .counted ? .status(200, content: bytes) : .chunked([bytes])
    }

    /// Has the fault happen, and gives what became of the call.
    ///
    /// - Throws: what ``TransportKind/run(_:_:_:body:)`` finds left behind; the error of the call after it.
    public func outcome(on kind: TransportKind) async throws -> FaultOutcome {
      let gate = Gate()
      let clock = ManualClock()
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
          // Behind the answer a stall is nobody's who has read it.
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

    /// A POST, which goes out once.
    private static var question: Request<Content> {
      Request(method: .post, path: "/", mapping: .content).accepting(.any).timeout(.seconds(1))
    }

    /// The fault, where it is to happen.
    private func suffered(stallingAt gate: Gate) -> Fault {
      var fault = fault
      fault.scope = fault.trigger == .connect ? .connection(0) : .request(0)
      if case .stall = fault.effect { fault.effect = .stall(until: gate) }
      return fault
    }

    /// Whether the connection is of no use after the call, though the call has its answer: bytes of nobody's came, or
    /// it was closed.
    private func mustDrop(after outcome: FaultOutcome) -> Bool {
      if outcome == .otherContent { return true }
      switch fault.effect {
      case .stall, .throttle: return false
      case .close, .halfClose, .reset, .truncate, .garbage, .flood: return fault.trigger == .end
      }
    }
  }
#endif
