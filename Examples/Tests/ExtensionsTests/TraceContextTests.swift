import Apus
import ApusTesting
import CallTracing
import Testing

@Suite("traceparent")
struct TraceContextTests {
  private static let incoming = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
  private let stub = StubTransport()

  private func client(origins: Set<Origin> = []) -> Client {
    Client(baseURL: "https://api.test", transport: stub) {
      $0.customizePipeline = { $0.insertTraceContext(origins: origins) }
    }
  }

  private var values: [String?] {
    stub.exchanges.map { $0.field("traceparent") }
  }

  private var traces: [TraceContext] { values.compactMap { $0 }.compactMap { TraceContext($0) } }

  @Test("The exchanges of a call have one trace ID and different parent IDs, retries and redirects included")
  func oneTrace() async throws {
    stub.on(
      .get, "/a",
      replies: [
        .failure(TransportError(.connectionFailed, requestState: .notSent)), .status(307, fields: ["Location": "/b"]),
      ])
    stub.on(.get, "/b", reply: .status(204))
    try await client().send(Request<Void>.method(.get, "/a"))
    #expect(traces.count == 3)
    #expect(Set(traces.map(\.traceID)).count == 1)
    #expect(Set(traces.map(\.parentID)).count == 3)
    #expect(traces.allSatisfy { $0.isSampled })
  }

  @Test("Calls start different traces")
  func differentTraces() async throws {
    stub.onAny(reply: .status(204))
    let api = client()
    for _ in 0..<2 { try await api.send(Request<Void>.method(.get, "/a")) }
    #expect(Set(traces.map(\.traceID)).count == 2)
  }

  @Test("A call continues the trace that its endpoint sets, with its sampling flag")
  func continuing() async throws {
    stub.onAny(reply: .status(204))
    let incoming = try #require(TraceContext(Self.incoming))
    try await client().send(Request<Void>.method(.get, "/a").continuing(incoming))
    let sent = try #require(traces.first)
    #expect(sent.traceID == incoming.traceID && sent.parentID != incoming.parentID && !sent.isSampled)
  }

  @Test("Only exchanges with allowed origins get the field")
  func origins() async throws {
    stub.on(.get, "/a", reply: .status(307, fields: ["Location": "https://other.test/b"]))
    stub.on(.get, "/b", reply: .status(204))
    try await client().send(Request<Void>.method(.get, "/a"))
    #expect(values.map { $0 != nil } == [true, false])
    let other = Origin(scheme: "https", host: "other.test", port: 443)
    try await client(origins: [other]).send(Request<Void>.method(.get, "/a"))
    #expect(values.map { $0 != nil } == [true, false, true, true])
  }

  @Test("A field that the endpoint sets is sent unchanged")
  func ownField() async throws {
    stub.onAny(reply: .status(204))
    try await client().send(Request<Void>.method(.get, "/a").field("traceparent", Self.incoming))
    #expect(values == [Self.incoming])
  }

  @Test("The output of describe() contains the middleware")
  func describing() {
    #expect("\(client(origins: []).describe())".contains("TraceContextMiddleware (origins besides the base URL's: 0)"))
  }

  @Test("A value that is read is written unchanged", arguments: [incoming, incoming.dropLast() + "1"])
  func reading(value: String) {
    #expect(TraceContext(value)?.value == value)
  }

  @Test("A value of a later version may have more parts and unknown flags")
  func laterVersion() {
    let trace = TraceContext("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-83-more")
    #expect(trace?.value == Self.incoming.dropLast() + "1")
  }

  @Test(
    "A malformed value is rejected",
    arguments: [
      "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", incoming + "-more",
      "ff" + incoming.dropFirst(2),
      incoming.uppercased(), incoming + " ", "00-00000000000000000000000000000000-b7ad6b7169203331-00",
      "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-00",
      "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-00",
      "0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
    ])
  func malformed(value: String) {
    #expect(TraceContext(value) == nil)
  }

  @Test("IDs are never zero")
  func zeros() {
    let trace = TraceContext(random: { 0 }, isSampled: true)
    #expect(trace.value == "00-00000000000000010000000000000001-0000000000000001-01")
  }
}
