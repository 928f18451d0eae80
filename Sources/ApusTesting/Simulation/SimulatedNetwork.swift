import ApusCore
import Synchronization

/// The servers of a simulation by their hosts, and the exchanges with them that have not ended.
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
    // Handed out of the lock, so that nothing is released inside it.
    let ended = state.withLock { $0.open.removeValue(forKey: exchange.ticket) }
    withExtendedLifetime(ended) {}
  }

  /// Breaks off every exchange, once the simulation is over.
  func close() {
    let open = state.withLock { $0.open.sorted { $0.key < $1.key }.map { $0.value } }
    let error = TransportError(.broken, requestState: .maybeSent, detail: "the simulation is over")
    for exchange in open { exchange.end(.failure(error)) }
  }
}
