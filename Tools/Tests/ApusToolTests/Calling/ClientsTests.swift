import Apus
import ArgumentParser
import HTTPTypes
import Synchronization
import Testing

@testable import ApusTool

/// A transport that counts requests and responds with 503.
private final class FullTransport: Transport {
  private let sent = Mutex(0)

  var count: Int { sent.withLock { $0 } }

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    sent.withLock { $0 += 1 }
    return ResponseMessage(head: HTTPResponse(status: .serviceUnavailable), content: .empty)
  }
}

@Suite("Clients of servers")
struct ClientsTests {
  @Test("Each call is retried as often as requested, however many fail", arguments: [0, 1])
  func retries(number: Int) async throws {
    let transport = FullTransport()
    var connection = ConnectionPlan()
    connection.furtherAttempts = number
    let plan = try SendCommand.parse(["http://h/"]).plan()
    let client = try Clients(transport: transport, plan: connection).client(for: plan.request.url)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        // Every call is finally rejected.
        group.addTask { try? await client.send(Request<Void>.method(.get, "/")) }
      }
    }
    #expect(transport.count == 50 * (number + 1))
  }
}
