import Apus
import ApusTesting
import Foundation
import InProcess
import Synchronization

/// The server of the conformance suite as a handler.
final class ScriptedServer: ConformanceServer {
  private struct State {
    var replies: [String: ConformanceReply] = [:]
    var requests: [ConformanceRequest] = []
    var arrivals: [String: Gate] = [:]
    var departures: [String: Gate] = [:]
    var replied: Set<String> = []
    /// The number of connections that a real server would have closed so far.
    var closedConnections = 0
  }

  let baseURL = "http://handler.test"
  let refusingURL = "http://refusing.test"
  fileprivate let held = Gate()
  private let state = Mutex(State())

  func reply(to path: String, with reply: ConformanceReply) async {
    state.withLock { $0.replies[path] = reply }
  }

  func release() async {
    held.open()
  }

  var requests: [ConformanceRequest] { state.withLock { $0.requests } }

  func waitForRequest(_ path: String) async throws -> ConformanceRequest {
    try await state.withLock { $0.arrivals.gate(of: path) }.wait()
    guard let request = requests.first(where: { $0.path == path }) else {
      throw ConformanceFailure("the request is not recorded")
    }
    return request
  }

  func waitForClientClose(_ path: String) async throws {
    try await state.withLock { $0.departures.gate(of: path) }.wait()
  }

  func hasReplied(_ path: String) async -> Bool { state.withLock { $0.replied.contains(path) } }

  /// Responds to a request.
  func respond(to request: HandlerRequest) async throws -> HandlerResponse {
    guard request.head.authority == "handler.test" else {
      throw TransportError(.connectionFailed, requestState: .notSent)
    }
    let (path, reply) = record(request)
    let script = Script(reply ?? .status(404), path, self)
    let head = try await script.head()
    return HandlerResponse(head, trailers: script.trailers) { try await script.next() }
  }

  private func record(_ request: HandlerRequest) -> (path: String, reply: ConformanceReply?) {
    var fields = request.head.headerFields
    if let host = HTTPField.Name("Host") { fields[host] = request.head.authority }
    let (path, reply, gate) = state.withLock { state in
      let received = ConformanceRequest(
        method: request.head.method.rawValue, target: request.head.path ?? "", fields: fields,
        content: request.content, connection: state.closedConnections)
      state.requests.append(received)
      let reply = state.replies[received.path]
      if reply?.closesConnection == true { state.closedConnections += 1 }
      return (received.path, reply, state.arrivals.gate(of: received.path))
    }
    gate.open()
    return (path, reply)
  }

  fileprivate func ended(_ path: String, isComplete: Bool) {
    let gate = state.withLock { state in
      if isComplete { state.replied.insert(path) }
      return isComplete ? nil : state.departures.gate(of: path)
    }
    gate?.open()
  }
}

/// The script of a response in progress. If it is released before its end, the client has disconnected.
private final class Script: Sendable {
  private struct State {
    var steps: ArraySlice<ConformanceReply.Step>
    var isOver = false
  }

  struct BrokenOff: Error {}

  let trailers: HTTPFields
  private let path: String
  private let server: ScriptedServer
  private let state: Mutex<State>

  init(_ reply: ConformanceReply, _ path: String, _ server: ScriptedServer) {
    (self.path, self.server, trailers) = (path, server, reply.trailers)
    state = Mutex(State(steps: reply.withoutHarmlessClose[...]))
  }

  deinit {
    if !state.withLock({ $0.isOver }) { server.ended(path, isComplete: false) }
  }

  /// Runs the steps up to the head.
  func head() async throws -> HTTPResponse {
    while let step = state.withLock({ $0.steps.popFirst() }) {
      switch step {
      case .head(let status, let fields): return HTTPResponse(status: .init(code: status), headerFields: fields)
      case .hold, .stopReading: try await server.held.wait()
      case .raw: throw over(TransportError(.malformedResponse, requestState: .maybeSent))
      case .close: throw over(BrokenOff())
      case .interim, .content, .trailers, .early: break
      }
    }
    throw over(BrokenOff())
  }

  /// Runs the steps up to the next piece.
  func next() async throws -> Data? {
    while let step = state.withLock({ $0.steps.first }) {
      switch step {
      case .content(let piece, let times):
        state.withLock { state in
          state.steps.removeFirst()
          if times > 1 { state.steps = [.content(piece, times: times - 1)] + state.steps }
        }
        return piece
      case .hold: try await server.held.wait()
      case .close: throw over(BrokenOff())
      case .head, .interim, .raw, .stopReading, .trailers, .early: break
      }
      state.withLock { _ = $0.steps.popFirst() }
    }
    server.ended(path, isComplete: true)
    state.withLock { $0.isOver = true }
    return nil
  }

  /// Ends the response as if the server did.
  private func over<Failure: Error>(_ error: Failure) -> Failure {
    state.withLock { $0.isOver = true }
    return error
  }
}

extension [String: Gate] {
  /// Returns the gate of a path. It is created if it does not exist.
  fileprivate mutating func gate(of path: String) -> Gate {
    let gate = self[path] ?? Gate()
    self[path] = gate
    return gate
  }
}

extension ConformanceReply {
  private var fields: HTTPFields {
    steps.lazy.compactMap { if case .head(_, let fields) = $0 { fields } else { nil } }.first ?? [:]
  }

  fileprivate var closesConnection: Bool { fields[.connection] == "close" }

  fileprivate var trailers: HTTPFields {
    steps.lazy.compactMap { if case .trailers(let fields) = $0 { fields } else { nil } }.first ?? [:]
  }

  /// The steps without a final close after a complete response, because it affects no exchange here.
  fileprivate var withoutHarmlessClose: [Step] {
    guard case .close = steps.last, let announced = fields[.contentLength] else { return steps }
    // If the content is not read, the close is a failure.
    if case .early(readsContent: false)? = steps.first { return steps }
    let count = steps.reduce(0) { if case .content(let piece, let times) = $1 { $0 + piece.count * times } else { $0 } }
    return announced == String(count) ? steps.dropLast() : steps
  }
}
