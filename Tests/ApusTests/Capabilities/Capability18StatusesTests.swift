import Apus
import ApusTestServer
import HTTPTypes
import Testing

@Suite("18: every status")
struct Capability18StatusesTests {
  @Test("Statuses 200 to 299 are accepted, statuses 300 to 599 are rejected, and the number of the status is available")
  func everyStatus() async throws {
    try await TestServer.with { request in
      .status(Int(request.path.dropFirst()) ?? 500, content: Array("content".utf8))
    } body: { server in
      let api = server.client()
      let statuses = await withTaskGroup(of: (Int, accepted: Int?, refused: Int?).self) { group in
        for status in 200...599 {
          group.addTask {
            do throws(CallError) {
              let response = try await api.response(to: Request<Void>.get("/\(status)"))
              return (status, response.head.status.code, nil)
            } catch {
              return (status, nil, error.code == .rejected ? error.status : nil)
            }
          }
        }
        return await group.reduce(into: [:]) { $0[$1.0] = $1 }
      }
      for status in 200...599 {
        let outcome = try #require(statuses[status])
        #expect(outcome.accepted == (status < 300 ? status : nil), "\(status)")
        #expect(outcome.refused == (status < 300 ? nil : status), "\(status)")
      }
      // A request with the response 421 is sent again once, on a new connection.
      #expect(server.exchanges.count == 401)
    }
  }

  @Test("Statuses 100 to 599 have a class; any other number has no class")
  func classes() {
    let kinds: [HTTPResponse.Status.Kind] = [.informational, .successful, .redirection, .clientError, .serverError]
    for status in 100...599 { #expect(Response(value: "", status: status).head.status.kind == kinds[status / 100 - 1]) }
    for status in [0, 99, 600, 999] { #expect(Response(value: "", status: status).head.status.kind == .invalid) }
  }

  @Test("An endpoint chooses which statuses it accepts")
  func acceptance() async throws {
    try await withServer(answering: .text("old", status: 404)) { api, _ in
      let text = try await api.send(Request<String>.get("/a").accepting(.successful(and: 404)))
      #expect(text == "old")
      let any = try await api.send(Request<String>.get("/a").accepting(.any))
      #expect(any == "old")
      let error = await failure { try await api.send(Request<String>.get("/a").accepting(.statuses(200))) }
      #expect(error?.status == 404)
    }
  }

  @Test("Interim responses are skipped", arguments: [100, 102, 103])
  func interim(status: Int) async throws {
    try await withServer(answering: Reply.text("final").interim(status)) { api, _ in
      let text = try await api.send(Request<String>.get("/a"))
      #expect(text == "final")
    }
  }
}
