import ApusCore
import ApusTesting
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A conformance server that uses a stub. It performs the scripted replies, and records requests as a server would
/// receive them.
final class StubServer: ConformanceServer {
  private struct State {
    var gates: [Gate] = []
    var isReleased = false
    /// Paths whose responses have `Connection: close`.
    var closing: Set<String> = []
  }

  let stub = StubTransport()
  let baseURL = "https://stub.test"
  let refusingURL = "https://refusing.test"
  private let state = Mutex(State())

  init() {
    stub.onAny(reply: .status(404))
    stub.on(
      where: { request, _ in request.head.authority == "refusing.test" },
      reply: { _ in .failure(TransportError(.connectionFailed, requestState: .notSent)) })
  }

  func reply(to path: String, with reply: ConformanceReply) async {
    let closes = reply.steps.contains {
      if case .head(_, let fields) = $0 { fields[.connection] == "close" } else { false }
    }
    if closes { state.withLock { _ = $0.closing.insert(path) } }
    stub.on(
      where: { request, _ in
        request.head.authority == "stub.test" && request.target.prefix { $0 != "?" } == path
      }, reply: { [self] _ in answer(reply) })
  }

  func release() async {
    let gates = state.withLock { state in
      state.isReleased = true
      return state.gates
    }
    for gate in gates { gate.open() }
  }

  var requests: [ConformanceRequest] {
    stub.exchanges.filter { $0.isRequestComplete && $0.request.head.authority == "stub.test" }.map(received)
  }

  func waitForRequest(_ path: String) async throws -> ConformanceRequest {
    try await stub.wait { $0.contains { $0.isRequestComplete && $0.isAt(path) } }
    let exchange = stub.exchanges.first { $0.isRequestComplete && $0.isAt(path) }
    return try exchange.map(received) ?? { throw ConformanceFailure("the request has gone") }()
  }

  func waitForClientClose(_ path: String) async throws {
    let exchanges = try await stub.wait { $0.contains { $0.outcome != .inFlight && $0.isAt(path) } }
    let outcome = exchanges.first { $0.isAt(path) }?.outcome
    guard outcome == .cancelled else { throw ConformanceFailure("the exchange ended otherwise") }
  }

  func hasReplied(_ path: String) async -> Bool {
    stub.exchanges.first { $0.isAt(path) }?.outcome == .replied
  }

  private func answer(_ reply: ConformanceReply) -> StubReply {
    let gate = Gate()
    let isReleased = state.withLock { state in
      state.gates.append(gate)
      return state.isReleased
    }
    if isReleased { gate.open() }
    var head: (status: Int, fields: HTTPFields)?
    var pieces: [Data] = []
    var trailers = HTTPFields()
    var isHeldAtStart = false
    for step in reply.steps {
      switch step {
      case .interim: break
      case .head(let status, let fields): head = (status, fields)
      case .content(let piece, let times): pieces += Array(repeating: piece, count: times)
      case .trailers(let fields): trailers = fields
      case .hold:
        if head == nil { isHeldAtStart = true } else { gate.release(pieces.count) }
      case .raw(let bytes) where bytes.starts(with: Data("HTTP/1.0 200 OK".utf8)): head = (200, [:])
      case .raw: return .failure(TransportError(.malformedResponse, requestState: .maybeSent))
      case .stopReading, .early: break
      case .close:
        guard let head else { return .failure(TransportError(.connectionLost, requestState: .maybeSent)) }
        // A close after a complete response affects an exchange only if the request's content is not read.
        if case .early(readsContent: false)? = reply.steps.first {
          return .pieces(pieces, status: head.status, fields: head.fields).failing(after: pieces.count)
        }
        if head.fields[.contentLength] == String(pieces.reduce(0) { $0 + $1.count }) || pieces.isEmpty { break }
        return .pieces(pieces, status: head.status, fields: head.fields).failing(after: pieces.count)
      }
    }
    let isHeld = reply.steps.contains { if case .hold = $0 { true } else { false } }
    let answer = StubReply.pieces(
      pieces, gate: isHeld && !isHeldAtStart ? gate : nil, status: head?.status ?? 200, fields: head?.fields ?? [:])
    return (isHeldAtStart ? answer.waiting(for: gate) : answer).trailers(trailers)
  }

  /// Returns the number of the connection, which is the number of connections that a real server would have closed
  /// before.
  private func connection(of exchange: StubExchange) -> Int {
    let closing = state.withLock { $0.closing }
    return stub.exchanges.prefix(exchange.id).count { exchange in closing.contains { exchange.isAt($0) } }
  }

  /// Returns the request with the fields that a real transport adds.
  private func received(_ exchange: StubExchange) -> ConformanceRequest {
    var fields = exchange.fields
    if let host = HTTPField.Name("Host") { fields[host] = exchange.request.head.authority }
    if let length = exchange.announcedLength { fields[.contentLength] = String(length) }
    return ConformanceRequest(
      method: exchange.method.rawValue, target: exchange.target, fields: fields, content: exchange.content,
      connection: connection(of: exchange))
  }
}

extension StubExchange {
  fileprivate func isAt(_ path: String) -> Bool { target.prefix { $0 != "?" } == path }
}
