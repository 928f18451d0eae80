import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

private struct AppError: Error {}

/// A failed call and the description expected of its error.
private struct Row: Sendable, CustomTestStringConvertible {
  let code: CallError.Code
  let answer: StubReply
  let text: String

  init(_ code: CallError.Code, _ answer: StubReply, _ text: String) {
    (self.code, self.answer, self.text) = (code, answer, text)
  }

  init(_ code: CallError.Code, in phase: CallPhase? = nil, _ state: RequestState, _ text: String) {
    self.init(code, .failure(TransportError(code, in: phase, requestState: state, detail: "why")), text)
  }

  var testDescription: String { "\(code.rawValue): \(text)" }
}

@Suite("Descriptions of errors in logs")
struct ErrorTextTests {
  private static let answered: [Row] = [
    Row(
      .rejected, .status(404),
      "GET /users/{} was rejected with 404 Not Found. Check the path and the values in it. [rejected, responded]"),
    Row(
      .rejected, .status(401),
      "GET /users/{} was rejected with 401 Unauthorized. Sign in, or renew the credentials. [rejected, responded]"),
    Row(
      .rejected, .json(#"{"message":"no"}"#, status: 422),
      "GET /users/{} was rejected with 422 Unprocessable Content. Correct the request: it would be rejected again. "
        + "[rejected, responded]"),
    Row(
      .rejected, .status(503, fields: [.retryAfter: "2"]),
      "GET /users/{} was rejected with 503 Service Unavailable. Retry after 2.0 seconds. [rejected, responded]"),
    Row(
      .rejected, .status(299 + 300),
      "GET /users/{} was rejected with status 599. Retry later if the request is idempotent. [rejected, responded]"),
    Row(
      .decoding, .json(#"{"items":[1,"x"]}"#),
      "GET /users/{} got 200 OK, but its content could not be decoded: expected Int, found a string "
        + "(line 1, column 13, byte 12) at items[1]. Compare the endpoint's type with what the server sends. [decoding, responded]"
    ),
  ]

  private static let failed: [Row] = [
    Row(
      .offline, .notSent,
      "GET /users/{} found no network: why. Retry when there is a network. [offline, notSent]"),
    Row(
      .hostNotFound, .notSent,
      "GET /users/{} found no address for the server's name: why. Check the host in the base URL, and the name server. "
        + "[hostNotFound, notSent]"),
    Row(
      .connectionFailed, .notSent,
      "GET /users/{} could not connect to the server: why. Check the server's address, and that the server runs. "
        + "[connectionFailed, notSent]"),
    Row(
      .tls, .notSent,
      "GET /users/{} could not make a secure connection to the server: why. Check the server's certificate, the pins "
        + "and the clock. [tls, notSent]"),
    Row(
      .timeout, in: .awaitingHead, .maybeSent,
      "GET /users/{} timed out while it waited for the response: why. Retry if the request is idempotent. "
        + "[timeout, maybeSent]"),
    Row(
      .timeout, in: .waiting, .notSent,
      "GET /users/{} timed out while it waited to be sent: why. Retry. [timeout, notSent]"),
    Row(
      .connectionLost, .maybeSent,
      "GET /users/{} lost its connection while it waited for the response: why. Retry if the request is idempotent. "
        + "[connectionLost, maybeSent]"),
    Row(
      .malformedResponse, .responded,
      "GET /users/{} got a response that breaks the rules of HTTP: why. [malformedResponse, responded]"),
    Row(
      .contentTooLarge, .responded,
      "GET /users/{} got more content than allowed: why. Raise the content limit, or read the content as a stream. "
        + "[contentTooLarge, responded]"),
    Row(
      .refused, .notSent, "GET /users/{} was refused before it was sent: why. [refused, notSent]"),
    Row(
      .invalidRequest, .notSent,
      "GET /users/{} could not be sent: why. [invalidRequest, notSent]"),
    Row(
      .cancelled, .failure(CancellationError()),
      "GET /users/{} was cancelled: the caller's task was cancelled. [cancelled, maybeSent]"),
  ]

  private struct Items: Decodable, Sendable { let items: [Int] }

  @Test("The description contains the endpoint, the failure and the remedy", arguments: answered + failed)
  private func table(row: Row) async throws {
    let bench = CallBench()
    bench.stub.onAny(reply: row.answer)
    let error = try #require(await bench.api.result(of: Request<Items>.get("/users/\(7)")).error)
    #expect(error.code == row.code)
    #expect(error.description == row.text)
  }

  @Test("Every error code except encoding and handler has a row in the table")
  func complete() {
    let codes = Set((Self.answered + Self.failed).map(\.code))
    #expect(Set(CallError.Code.allCases).subtracting(codes) == [.encoding, .handler])
  }

  @Test(
    "The description of an encoding error has the coding path, and that of a handler error the type of its cause")
  func ownMistakes() async throws {
    let bench = CallBench()
    bench.stub.onAny(reply: .text("a"))
    let path = try #require(await bench.api.result(of: Request<String>.get("/users/\("..")")).error)
    #expect(path.description.hasPrefix("GET /users/{} could not be prepared: "), "\(path)")
    let query = Request<String>.get("/users", query: ["ratio": Double.infinity])
    let encoding = try #require(await bench.api.result(of: query).error)
    #expect(encoding.description.hasPrefix("GET /users could not be encoded: "), "\(encoding)")
    #expect(encoding.description.hasSuffix(" at ratio. Correct the value: it would fail again. [encoding, notSent]"))
    let handler = try #require(
      await #expect(throws: CallError.self) {
        try await bench.api.withResponse(to: Request<String>.get("/a")) { _ in throw AppError() }
      })
    #expect(handler.description == "GET /a failed in the app's closure: AppError. [handler, responded]")
  }

  @Test("The description starts with the endpoint's type, method and path, and has a single line")
  func types() async throws {
    struct GetUser: Endpoint {
      var request: Request<String> { .get("/users/\(7, "id")") }
    }
    let bench = CallBench()
    bench.stub.onAny(reply: .status(404))
    let error = try #require(await bench.api.result(of: GetUser()).error)
    #expect(error.description.hasPrefix("GetUser GET /users/{id} was rejected with 404 Not Found. "))
    #expect(!error.description.contains("\n") && error.debugDescription == error.description)
  }

  @Test("A middleware's error is described by its text if it is a LoggableError, otherwise by its type")
  func reasons() async throws {
    struct Silent: Error, CustomStringConvertible { let description = "s3cr3t" }
    struct KeyMissing: LoggableError { let description = "the signing key is missing: set API_KEY." }
    for (thrown, text) in [
      (KeyMissing() as any Error, "the signing key is missing: set API_KEY."), (Silent(), "Silent."),
    ] {
      let failing = Doing { _, _, _ in throw thrown }
      let bench = CallBench(middlewares: [(failing, .authentication)])
      let error = try #require(await bench.api.result(of: Request<String>.get("/a")).error)
      #expect(error.description == "GET /a could not be sent: \(text) [invalidRequest, notSent]")
    }
  }
}
