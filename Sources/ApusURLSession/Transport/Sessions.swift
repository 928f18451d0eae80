import ApusCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The sessions of a transport: a shared session, opened by the first message, and a separate session for each exchange
/// that must not share a connection.
///
/// On Linux the process crashes if a task is created in a closed session, so tasks are created and sessions closed
/// under the same lock.
final class Sessions: Sendable {
  private struct State {
    var shared: OpenSession?
    /// The sessions of exchanges that must not share a connection.
    var own: [ObjectIdentifier: OpenSession] = [:]
    var isShutDown = false
  }

  private let options: URLSessionTransport.Options
  private let queue = OperationQueue()
  private let state = Mutex(State())

  init(options: URLSessionTransport.Options) {
    self.options = options
    // Serial, so that the events of an exchange arrive in order.
    queue.maxConcurrentOperationCount = 1
    queue.name = "apus.urlsession"
  }

  /// Creates the exchange of a message; nothing is sent before it begins.
  ///
  /// - Throws: `TransportError` once the transport is shut down.
  func exchange(for request: PlatformRequest, context: ExchangeContext) throws -> SessionExchange {
    let exchange: SessionExchange? = try state.withLock { state in
      guard !state.isShutDown else { return nil }
      return try session(for: request, &state).exchange(for: request, context: context)
    }
    guard let exchange else {
      throw TransportError(.refused, requestState: .notSent, detail: "the transport is shut down")
    }
    return exchange
  }

  func shutDown() {
    let sessions = state.withLock { state in
      defer { state = State(isShutDown: true) }
      return Array(state.own.values) + [state.shared].compactMap { $0 }
    }
    for session in sessions { session.close() }
  }

  private func session(for request: PlatformRequest, _ state: inout State) -> OpenSession {
    if request.needsOwnConnection || !options.reusesConnections {
      let session = OpenSession(options: options, queue: queue) { [weak self] in self?.forget($0) }
      state.own[ObjectIdentifier(session)] = session
      return session
    }
    if let session = state.shared { return session }
    let session = OpenSession(options: options, queue: queue)
    state.shared = session
    return session
  }

  private func forget(_ session: OpenSession) {
    let session = state.withLock { $0.own.removeValue(forKey: ObjectIdentifier(session)) }
    session?.finish()
  }
}
