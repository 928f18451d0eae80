public import ApusTestServer
public import ApusTesting
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The test server as the server of the transport conformance suite.
public final class LoopbackServer: ConformanceServer {
  /// The server itself.
  public let server: TestServer
  /// The URL of the server or its gateway.
  public let baseURL: String
  private let replies: Replies
  private let refusing: RefusingPort

  private final class Replies: Sendable {
    let byPath = Mutex<[String: ConformanceReply]>([:])
    let held = Gate()

    func withholds(_ path: String) -> Bool {
      guard case .stopReading = byPath.withLock({ $0[path]?.steps.first }) else { return false }
      return true
    }

    /// Returns whether the server does not read the content of a request to this path.
    func isUnread(_ path: String) -> Bool {
      guard case .early(readsContent: false) = byPath.withLock({ $0[path]?.steps.first }) else { return false }
      return true
    }

    func comesEarly(_ path: String) -> Bool {
      guard case .early = byPath.withLock({ $0[path]?.steps.first }) else { return false }
      return true
    }
  }

  /// Starts a server on a port of its own, runs `body` with it, fails unless it is idle afterwards, and shuts it
  /// down.
  ///
  /// - Parameters:
  ///   - tls: the TLS of the server or its gateway; `nil` for none.
  ///   - gateway: a function that starts the server's gateway; `nil` for none.
  public static func with(
    tls: TestServer.TLS? = nil, gateway: Gateway.Start? = nil, _ body: (LoopbackServer) async throws -> Void
  ) async throws {
    let replies = Replies()
    let withheld = Fault(
      at: .requestHead, .stall(until: replies.held),
      on: .matching { occasion in occasion.request.map { replies.withholds($0.path) } ?? false })
    var options = TestServer.Options(contentLimit: 16 << 20, tls: gateway == nil ? tls : nil, faults: [withheld])
    options.repliesToHead = { replies.comesEarly($0.path) }
    options.stopsReadingAtHead = { replies.isUnread($0.path) }
    let refusing = try RefusingPort()
    try await TestServer.with(options: options) { request in
      let reply = replies.byPath.withLock { $0[request.path] }
      return reply.map { Reply($0, to: request, held: replies.held) } ?? .status(404)
    } body: { server in
      try await withGateway(gateway, to: server, tls: tls) { gateway in
        try await body(LoopbackServer(server, replies, refusing, baseURL: gateway?.origin ?? server.origin))
        // A delayed reply does not end when its client disconnects, so all delayed replies are released.
        replies.held.open()
        try await server.requireQuiet()
        try await gateway?.requireQuiet()
      }
    }
  }

  private init(_ server: TestServer, _ replies: Replies, _ refusing: RefusingPort, baseURL: String) {
    (self.server, self.replies, self.refusing, self.baseURL) = (server, replies, refusing, baseURL)
  }

  /// The URL of a port that is occupied and refuses connections.
  public var refusingURL: String { "http://127.0.0.1:\(refusing.port)" }

  /// Sets the reply to a path.
  public func reply(to path: String, with reply: ConformanceReply) async {
    replies.byPath.withLock { $0[path] = reply }
  }

  /// Releases the delayed replies.
  public func release() async {
    replies.held.open()
  }

  /// The requests that were received completely.
  public var requests: [ConformanceRequest] {
    server.exchanges.map(\.request).filter(\.isComplete).map(ConformanceRequest.init)
  }

  /// Waits for a complete request with a path.
  public func waitForRequest(_ path: String) async throws -> ConformanceRequest {
    ConformanceRequest(try await server.exchange { $0.path == path && $0.isComplete }.request)
  }

  /// Waits until the client closes the connection of the exchange with a path.
  public func waitForClientClose(_ path: String) async throws {
    do {
      try await server.waitForClientClose(of: server.exchange { $0.path == path })
    } catch let error as TestServerError {
      throw ConformanceFailure("the client did not give \(path) up: \(error)")
    }
  }

  /// Returns whether the first exchange with a path has a complete response.
  public func hasReplied(_ path: String) async -> Bool {
    server.exchanges.first { $0.path == path }?.outcome == .replied
  }
}

extension ConformanceRequest {
  fileprivate init(_ request: RecordedRequest) {
    var fields = request.fields.httpFields
    // A gateway adds `Via: 2.0 N`, where N is the number of the client's connection.
    let connection = fields[.via].flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
    fields[.via] = nil
    self.init(
      method: request.method, target: request.target, fields: fields, content: Data(request.content),
      connection: connection ?? request.connection)
  }
}

extension Reply {
  /// Creates a reply from the steps of a conformance reply. Content without a length is chunked.
  fileprivate init(_ reply: ConformanceReply, to request: RecordedRequest, held: Gate) {
    var steps: [Step] = []
    var isChunked = false
    for step in reply.steps {
      switch step {
      case .interim(let status, let fields): steps.append(.interim(status, fields: FieldLines(fields)))
      case .head(let status, let fields):
        var lines = FieldLines(fields)
        isChunked = fields[.contentLength] == nil && ![204, 304].contains(status)
        if isChunked { lines["Transfer-Encoding"] = "chunked" }
        steps.append(.head(status, fields: lines))
      case .content(let data, let times):
        let content = Step.generated(ContentPattern(repeating: Array(data)), 0..<data.count * times)
        steps += isChunked ? Self.chunk(content, of: data.count * times) : [content]
      case .trailers(let fields):
        steps.append(.lastChunk(trailers: FieldLines(fields)))
        isChunked = false
      case .hold: steps.append(.wait(held))
      case .raw(let bytes): steps.append(.raw(Array(bytes)))
      case .close: steps.append(.close)
      case .early, .stopReading: break
      }
    }
    if case .close = steps.last {
      self.init(steps: steps)
      return
    }
    if isChunked { steps.append(.lastChunk(trailers: [:])) }
    // Without reading, the server would never detect that the client has disconnected.
    if case .early(readsContent: false)? = reply.steps.first { steps += [.wait(held), .reading(true)] }
    self.init(steps: steps)
  }

  private static func chunk(_ content: Step, of length: Int) -> [Step] {
    [.framing(Array("\(String(length, radix: 16))\r\n".utf8)), content, .framing(Array("\r\n".utf8))]
  }
}
