import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One request on its way to a server and its answer on the way back, step by step on the simulation's clock.
///
/// A call that is given up does not take its request back: what is on its way arrives, and is worked on.
final class SimulatedExchange: Sendable {
  typealias Outcome = Result<ResponseMessage, TransportError>

  let ticket: UInt64
  private let request: RequestMessage
  private let context: ExchangeContext
  private let server: SimulatedServer
  private let transport: SimulatedTransport
  private let fate: SimulatedTransport.Fate
  private let outcome = Watched<Outcome?>(nil)
  private let hasHead = Mutex(false)

  init(_ request: RequestMessage, context: ExchangeContext, server: SimulatedServer, transport: SimulatedTransport) {
    self.request = request
    self.context = context
    self.server = server
    self.transport = transport
    ticket = transport.network.newTicket()
    fate = transport.drawFate()
  }

  private var clock: SimulatedClock { transport.network.clock }
  private var recorder: SimulationRecorder { transport.network.recorder }

  /// Sends the request and waits for its answer.
  func perform() async throws -> ResponseMessage {
    transport.network.opened(self)
    defer { transport.network.ended(self) }
    begin()
    do {
      return try await outcome.first { $0 }.get()
    } catch let error as TransportError {
      throw error
    } catch {
      leave()
      throw error
    }
  }

  /// The server hears that nobody waits any more as late as it hears of anything.
  private func leave() {
    clock.plan(after: transport.drawLatency()) { [server, ticket] in server.leave(ticket) }
  }

  /// Ends the exchange, unless it has ended; answers whether it did.
  @discardableResult
  func end(_ result: Outcome) -> Bool {
    outcome.update { outcome in
      guard outcome == nil else { return false }
      outcome = result
      return true
    }
  }

  private func begin() {
    recorder.record(.sent(host: server.host, attempt: context.attempt))
    let length = request.content.length.map { Int($0) } ?? 0
    let left = transport.passUp(length)
    // An attempt whose time was up before says nothing of the next one.
    clock.plan(at: left) { if self.outcome.state == nil { self.context.record(.requestSent) } }
    clock.plan(at: left.advanced(by: transport.drawLatency())) { self.arrive() }
    limit(from: left)
  }

  /// Ends the exchange at the limits that its call has for the head of the answer; the request has left at `left`.
  private func limit(from left: MonotonicInstant) {
    if let firstByte = context.values[ExchangeTimeouts.self].firstByte {
      end(at: left.advanced(by: firstByte), TransportError(.timedOut(.awaitingHead), requestState: .maybeSent))
    }
    if let instant = context.attemptDeadline {
      end(at: instant, .attemptTimedOut(in: left <= instant ? .awaitingHead : .connecting, requestState: .maybeSent))
    }
  }

  private func end(at instant: MonotonicInstant, _ error: TransportError) {
    clock.plan(at: instant) { [weak self] in
      // What follows a head takes as long as it takes.
      guard let self, !self.hasHead.withLock({ $0 }), self.end(.failure(error)) else { return }
      self.leave()
    }
  }

  private func arrive() {
    guard fate != .requestLost, !transport.isDown else { return lose() }
    server.arrive(request, ticket) { self.answer($0) }
  }

  private func answer(_ result: SimulatedServer.Outcome) {
    let length = request.head.method == .head ? 0 : (try? result.get())?.content.count ?? 0
    let (head, all) = transport.passDown(length)
    let latency = transport.drawLatency()
    let isSplit = head < all
    if isSplit { clock.plan(at: head.advanced(by: latency)) { self.deliverHead() } }
    clock.plan(at: all.advanced(by: latency)) { self.deliver(result, afterHead: isSplit) }
  }

  private func deliverHead() {
    guard fate != .answerLost, !transport.isDown else { return }
    hasHead.withLock { $0 = true }
  }

  private func deliver(_ result: SimulatedServer.Outcome, afterHead: Bool) {
    // Whose head was lost is lost.
    guard fate != .answerLost, !transport.isDown, !afterHead || hasHead.withLock({ $0 }) else { return lose() }
    let isHead = request.head.method == .head
    end(
      result.map { answer in
        ResponseMessage(head: answer.head, content: isHead ? .empty : ResponseContent(answer.content))
      })
  }

  private func lose() {
    recorder.record(.lost(host: server.host))
    // No limit would end it any more.
    guard !transport.link.stallsOnLoss || hasHead.withLock({ $0 }) else { return }
    end(.failure(TransportError(.broken, requestState: .maybeSent, detail: "the connection was lost")))
  }
}
