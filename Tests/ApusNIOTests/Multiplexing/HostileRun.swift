import ApusCore
import Foundation
import HTTPTypes
import Testing

@testable import ApusNIO

extension HostileCase {
  /// Plays the case and checks its expectations. Afterwards, another call must succeed.
  func run() async throws {
    try await FrameServer.with(scripts) { server in
      try await run(server)
      try await server.waitUntilClosed()
      check(server.received)
    }
  }

  private func run(_ server: FrameServer) async throws {
    try await NIOTransport.with {
      $0.protocols = [.http2]
      // A case that hangs fails with a timeout.
      ($0.firstByteTimeout, $0.stallTimeout) = (.seconds(30), .seconds(30))
      configure(&$0)
    } body: { transport in
      let client = try makeClient("http://127.0.0.1:\(server.port)", transport)
      for (number, end) in try await ends(client, server).enumerated() {
        let expected = calls[number].expected ?? self.expected
        #expect(expected.outcomes.contains { $0.matches(end) }, "call \(number): \(end)")
      }
      if nextMayFail { _ = await failure { try await client.send(message(.get, "/next")) } }
      // The timeouts of the case are for the calls that it makes.
      let next = try await client.send(HostileCall.get.patient.modify(message(.get, "/next"))).string
      #expect(next == "next")
    }
  }

  /// Makes the calls and returns their ends.
  private func ends(_ client: Client, _ server: FrameServer) async throws -> [CallEnd] {
    var tasks: [Task<CallEnd, any Error>] = []
    for (number, call) in calls.enumerated() {
      let task = Task {
        defer { server.callEnded(number) }
        return try await call.end(client, server)
      }
      tasks.append(task)
      switch start {
      case .together: break
      case .inOrder: try await server.waitForRequest(number)
      case .oneByOne: _ = try await task.value
      }
    }
    return try await withTaskCancellationHandler { [tasks] in
      var ends: [CallEnd] = []
      for task in tasks { ends.append(try await task.value) }
      return ends
    } onCancel: { [tasks] in
      for task in tasks { task.cancel() }
    }
  }

  // MARK: Checks

  private func check(_ received: [Received]) {
    #expect(received.flatMap(\.violations).isEmpty)
    #expect(expected.reaction.matches(received), "\(received.map { "\($0.resets) \($0.goAways)" })")
    #expect(expected.connections.contains(received.count), "\(received.count) connections")
    let executed = received.flatMap(\.requests).filter { $0.path != "/next" && !$0.isRefused }
    #expect((self.executed ?? calls.count...calls.count).contains(executed.count), "\(executed)")
    let posts = executed.count { $0.method == "POST" }
    #expect(posts <= calls.count { $0.method == .post }, "a POST request is repeated")
    // The response to the next call followed all frames of the script.
    let last = received.last { $0.requests.contains { $0.path == "/next" && $0.isAnswered } }
    #expect(last?.goAways.contains { $0 != .noError } != false || last?.unanswered == 0, "a frame is not acknowledged")
  }
}

extension HostileCall {
  /// Makes the call and returns its end.
  func end(_ client: Client, _ server: FrameServer) async throws -> CallEnd {
    let request = modify(message(method).content(content))
    do {
      switch reading {
      case .collected: return try await CallEnd(client.response(to: request))
      case .streamed: return try await read(client, request) {}
      case .after(let event): return try await read(client, request) { try await server.wait(for: event) }
      case .dropped:
        return try await client.withResponse(to: request) { response in
          _ = try await response.next()
          return .dropped
        }
      case .cancelled(let event):
        let task = Task { await failure { try await client.send(request) } }
        try await server.wait(for: event)
        task.cancel()
        return await task.value.map { .failure($0) } ?? .dropped
      }
    } catch let error as CallError {
      return .failure(error)
    }
  }

  private func read(
    _ client: Client, _ request: Request<Content>, pause: () async throws -> Void
  ) async throws(CallError) -> CallEnd {
    try await client.withResponse(to: request) { response in
      var content = try await response.next() ?? Data()
      try await pause()
      content += try await response.collect(upTo: .max)
      return .response(status: response.status, content: content, trailers: lines(response.trailers))
    }
  }
}

extension CallEnd {
  fileprivate init(_ response: Response<Content>) {
    self = .response(status: response.status, content: response.value.data, trailers: lines(response.trailers))
  }
}

private func lines(_ fields: HTTPFields) -> [String] { fields.map { "\($0.name.rawName): \($0.value)" } }
