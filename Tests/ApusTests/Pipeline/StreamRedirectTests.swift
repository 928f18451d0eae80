import Apus
import ApusTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@Suite("Event streams over redirects")
struct StreamRedirectTests {
  private let stub = StubTransport()
  private var api: Client {
    Client(baseURL: "https://x.test", transport: stub) {
      $0.clock = ManualClock(.manual)
      $0.retry = .none
    }
  }

  private static func events(_ text: String) -> StubReply {
    .status(200, fields: [.contentType: "text/event-stream"], content: text)
  }

  private func events() async throws -> [String] {
    var events: [String] = []
    for try await event in api.stream(Request<EventStream<String>>.get("/events")) { events.append(event) }
    return events
  }

  @Test("An event stream follows a redirect", arguments: [301, 302, 307, 308])
  func followed(status: Int) async throws {
    stub.on(.get, "/events", reply: .status(status, fields: [.location: "/moved"]))
    stub.on(.get, "/moved", replies: [Self.events("data: a\n\ndata: b\n\n")])
    var iterator = api.stream(Request<EventStream<String>>.get("/events")).makeAsyncIterator()
    #expect(try await iterator.next() == "a")
    #expect(try await iterator.next() == "b")
    #expect(stub.exchanges.map(\.fields).allSatisfy { $0[.accept] == "text/event-stream" })
    #expect(stub.exchanges.map { $0.target } == ["/events", "/moved"])
  }

  @Test("A redirect without a Location field ends an event stream with an error", arguments: [301, 307])
  func noLocation(status: Int) async throws {
    stub.on(.get, "/events", reply: .status(status))
    let error = await failure { try await events() }
    #expect(error?.code == .rejected && error?.status == status)
    #expect(stub.exchanges.count == 1)
  }
}
