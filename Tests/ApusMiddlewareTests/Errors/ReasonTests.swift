import ApusCore
import ApusMiddleware
import ApusTesting
import Testing

@Suite("Reasons why credentials could not be read")
struct ReasonTests {
  private struct Unprotected: LoggableError {
    var description: String { "the folder of the credentials lets others in: make it private by chmod 700" }
  }
  private struct Telling: Error, CustomStringConvertible {
    var description: String { "s3cr3t" }
  }

  private struct Failing: CredentialsStore {
    let error: any Error

    func current() async throws -> StoredCredential { throw error }
    func set(_ credential: Credential) {}
    func clear() {}
  }

  private func error(of failure: any Error) async throws -> CallError {
    var client = TestClient()
    client.environment.authentication = .bearer(Failing(error: failure))
    let api = client.over(StubTransport.answering(.json("7")))
    return try #require(await ApusMiddlewareTests.failure { try await api.send(Request<Int>.get("/users/\(7)")) })
  }

  @Test("The call's error contains the text of a credentials store's LoggableError")
  func named() async throws {
    let error = try await error(of: Unprotected())
    #expect(
      error.description
        == "GET /users/{} could not be sent: the credentials could not be read: the folder of the credentials lets "
        + "others in: make it private by chmod 700. [invalidRequest, notSent]")
    #expect(error.underlying is Unprotected)
  }

  @Test("For other errors of a credentials store, the call's error contains only the type")
  func unnamed() async throws {
    let error = try await error(of: Telling())
    #expect(error.detail == "the credentials could not be read: Telling" && !"\(error)".contains("s3cr3t"))
  }
}
