import ApusTesting
import Testing

@testable import ApusCore

@Suite("Statuses") struct StatusTests {
  @Test("Each status acceptance accepts exactly its statuses")
  func acceptance() {
    for status in 100...599 {
      #expect(StatusAcceptance.successful.contains(status) == (200...299).contains(status))
      #expect(StatusAcceptance.any.contains(status))
      #expect(StatusAcceptance.statuses(201, 404).contains(status) == [201, 404].contains(status))
      #expect(StatusAcceptance.successful(and: 304).contains(status) == ((200...299).contains(status) || status == 304))
      #expect(StatusAcceptance { $0 % 2 == 0 }.contains(status) == (status % 2 == 0))
    }
  }

  @Test("Every status from 100 to 599 results in either a value or a rejection")
  func everyStatus() async throws {
    let stub = StubTransport()
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    for status in 100...599 {
      stub.onAny(reply: .status(status))
      let error = await failure { try await api.send(Request<Void>.get("/x")) }
      if (200...299).contains(status) {
        #expect(error == nil)
      } else {
        #expect(error?.code == .rejected)
        #expect(error?.status == status)
        #expect(error?.errorDescription?.isEmpty == false)
      }
    }
  }

  @Test("A response with an accepted status is mapped to a value")
  func accepted() async throws {
    let api = client(answering: .json("7", status: 404))
    #expect(try await api.send(Request<Int>.get("/x").accepting(.statuses(404))) == 7)
    let error = await failure {
      try await client(answering: .json("7")).send(Request<Int>.get("/x").accepting(.statuses(404)))
    }
    #expect(error?.code == .rejected && error?.status == 200)
  }
}
