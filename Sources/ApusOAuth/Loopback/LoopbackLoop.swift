import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The sockets of a listener, and the loop that serves them on a separate queue until it is stopped.
final class LoopbackLoop: Sendable {
  typealias Handler = @Sendable (Result<String, OAuthError>) -> Void

  /// The maximum number of connections. A further connection ends the oldest connection, so that idle connections do
  /// not block the browser.
  static let maximumConnections = 16

  private struct Connection {
    let socket: LoopbackSocket
    var request: RedirectRequest
  }

  /// The listening socket until the loop starts. The loop then owns the socket, and closes it when the loop ends, even
  /// while a sign-in retains the listener.
  private let listener: Mutex<LoopbackSocket?>
  /// A pair of sockets: a byte that is sent to the second socket wakes the loop.
  private let wake: (LoopbackSocket, LoopbackSocket)
  private let path: String
  private let state: String
  let port: UInt16
  private let isStopped = Atomic(false)

  init(port: UInt16, path: String, state: String) throws(OAuthError) {
    let listener = try LoopbackSocket(listeningOn: port)
    self.listener = Mutex(listener)
    self.port = try listener.localPort()
    wake = try LoopbackSocket.pair()
    (self.path, self.state) = (path, state)
  }

  /// Starts the loop. Has no effect if the loop was started before.
  ///
  /// - Parameter handler: called once, with the target of the redirect, unless the loop is stopped first.
  func start(_ handler: @escaping Handler) {
    let taken = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    guard let taken else { return }
    DispatchQueue(label: "apus.oauth.loopback").async { [self] in
      do throws(OAuthError) {
        if let target = try run(taken) { handler(.success(target)) }
      } catch {
        handler(.failure(error))
      }
    }
  }

  /// Ends the loop.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    wake.1.send([0])
  }

  /// Serves connections. Returns the target of the redirect; `nil` if the loop was stopped.
  private func run(_ listener: LoopbackSocket) throws(OAuthError) -> String? {
    var connections: [Connection] = []
    while !isStopped.load(ordering: .relaxed) {
      let ready = try LoopbackSocket.poll([wake.0, listener] + connections.map(\.socket))
      if ready.first == true { return nil }
      // In reverse order, because connections are removed.
      for index in connections.indices.reversed() where ready[index + 2] {
        switch serve(&connections[index]) {
        case .wait: break
        case .arrive(let target): return target
        case .refuse: connections.remove(at: index)
        }
      }
      guard ready[1] else { continue }
      if let socket = listener.accepted() {
        if connections.count == Self.maximumConnections { connections.removeFirst() }
        connections.append(Connection(socket: socket, request: RedirectRequest(path: path, port: port, state: state)))
      } else {
        // At the limit of open files the listener stays readable, and the loop would run without pause.
        _ = try LoopbackSocket.poll([wake.0], milliseconds: 100)
      }
    }
    return nil
  }

  private func serve(_ connection: inout Connection) -> RedirectRequest.Step {
    switch connection.socket.read() {
    case .nothing: return .wait
    case .end: return .refuse(status: 400)
    case .bytes(let bytes):
      let step = connection.request.read(bytes)
      if step != .wait { connection.socket.send(RedirectPage.response(to: step)) }
      return step
    }
  }
}
