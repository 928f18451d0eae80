import ApusCore
import ApusWaiting
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The transfer of a request to a server and of its response, step by step on the simulation's clock.
///
/// Cancelling a call does not stop its request: the request still arrives, and the server works on it.
final class SimulatedExchange: Sendable {
  typealias Outcome = Result<ResponseMessage, TransportError>

  let ticket: UInt64
  private let request: RequestMessage
  private let context: ExchangeContext
  private let server: SimulatedServer
  private let transport: SimulatedTransport
  private let fate: SimulatedTransport.Fate
  private let outcome = Monitor<Outcome?>(nil)
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

  /// Sends the request and waits for the response.
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

  /// Notifies the server, after the link's latency, that the client has disconnected.
  private func leave() {
    clock.plan(after: transport.drawLatency()) { [server, ticket] in server.leave(ticket) }
  }

  /// Ends the exchange unless it has already ended. Returns whether this call ended it.
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
    // Recorded only if the exchange has not ended, because the context may already belong to the next attempt.
    clock.plan(at: left) { if self.outcome.state == nil { self.context.record(.requestSent) } }
    clock.plan(at: left.advanced(by: transport.drawLatency())) { self.arrive() }
    limit(from: left)
  }

  /// Schedules the timeouts of the call for the head of the response. The request is sent at `left`.
  private func limit(from left: MonotonicInstant) {
    if let firstByte = context.values[ExchangeTimeouts.self].firstByte {
      end(at: left.advanced(by: firstByte), TransportError(.timeout, in: .awaitingHead, requestState: .maybeSent))
    }
    if let instant = context.attemptDeadline {
      end(at: instant, .attemptTimedOut(in: left <= instant ? .awaitingHead : .connecting, requestState: .maybeSent))
    }
  }

  private func end(at instant: MonotonicInstant, _ error: TransportError) {
    clock.plan(at: instant) { [weak self] in
      // Neither timeout applies once the head has arrived.
      guard let self, !self.hasHead.withLock({ $0 }), self.end(.failure(error)) else { return }
      self.leave()
    }
  }

  private func arrive() {
    guard fate != .requestLost, !transport.isDown else { return lose() }
    server.arrive(request, ticket) { self.response($0) }
  }

  private func response(_ result: SimulatedServer.Outcome) {
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
    // If the head was lost, the content is lost as well.
    guard fate != .answerLost, !transport.isDown, !afterHead || hasHead.withLock({ $0 }) else { return lose() }
    let isHead = request.head.method == .head
    end(
      result.map { response in
        ResponseMessage(head: response.head, content: isHead ? .empty : ResponseContent(response.content))
      })
  }

  private func lose() {
    recorder.record(.lost(host: server.host))
    // After the head, the connection is always lost, because no timeout would end a stalled exchange.
    guard !transport.link.stallsOnLoss || hasHead.withLock({ $0 }) else { return }
    end(.failure(TransportError(.connectionLost, requestState: .maybeSent, detail: "the connection was lost")))
  }
}

/// The servers of a simulation by host, and the exchanges in flight.
final class SimulatedNetwork: Sendable {
  private struct State {
    var servers: [String: SimulatedServer] = [:]
    var open: [UInt64: SimulatedExchange] = [:]
    var lastTicket: UInt64 = 0
  }

  let clock: SimulatedClock
  let recorder: SimulationRecorder
  private let state = Mutex(State())

  init(recorder: SimulationRecorder) {
    self.recorder = recorder
    clock = recorder.clock
  }

  func add(_ server: SimulatedServer) {
    state.withLock { $0.servers[server.host] = server }
  }

  func server(_ host: String) -> SimulatedServer? {
    state.withLock { $0.servers[host] }
  }

  func newTicket() -> UInt64 {
    state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
  }

  func opened(_ exchange: SimulatedExchange) {
    state.withLock { $0.open[exchange.ticket] = exchange }
  }

  func ended(_ exchange: SimulatedExchange) {
    // The exchange is released outside of the lock.
    let ended = state.withLock { $0.open.removeValue(forKey: exchange.ticket) }
    withExtendedLifetime(ended) {}
  }

  /// Fails every exchange in flight, once the simulation is over.
  func close() {
    let open = state.withLock { $0.open.sorted { $0.key < $1.key }.map { $0.value } }
    let error = TransportError(.connectionLost, requestState: .maybeSent, detail: "the simulation is over")
    for exchange in open { exchange.end(.failure(error)) }
  }
}
