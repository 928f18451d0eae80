import ApusTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusCore

@Suite("Requests that were not sent completely")
struct IncompleteRequestTests {
  @Test(
    "The number of sent bytes is rounded down, so that its text never equals the total",
    arguments: [
      (9_944_000, 30_000_000, "9.9 of 30 MB"), (0, 30_000_000, "0 of 30 MB"), (0, 300_000, "0 of 300 kB"),
      (29_999_999, 30_000_000, "29.9 of 30 MB"), (30_010_000, 30_040_000, "30010000 of 30040000 bytes"),
      (1, 512, "1 of 512 bytes"), (400, 5_000_000_000, "0 of 5 GB"), (9_900_000, nil, "9.9 MB of content"),
      (0, nil, "0 bytes of content"), (999_999, nil, "999.9 kB of content"),
    ] as [(Int64, Int64?, String)])
  func size(sent: Int64, total: Int64?, text: String) {
    #expect(ByteCount.text(sent, of: total) == text)
  }

  private static let response = ResponseMessage(
    head: HTTPResponse(status: .created, headerFields: [.contentType: "text/plain"]),
    content: ResponseContent(Data(repeating: 7, count: 100_000)))

  /// Returns the error of a call whose connection closed before the request was complete.
  private static func error() async throws -> CallError {
    let stub = StubTransport()
    stub.onAny(
      reply: .failure(
        TransportError.incompleteRequest(response, sent: 9_900_000, of: 30_000_000, "the connection closed")))
    let client = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    return try #require(await failure { try await client.send(Request<Void>.put("/film")) })
  }

  @Test("The error of the call has the response's content, up to the content limit, and the number of sent bytes")
  func callError() async throws {
    let error = try await Self.error()
    #expect(error.code == .connectionLost && error.requestState == .responded && error.isIncompleteRequest)
    #expect(error.content?.status == 201 && error.content?.data.count == CallError.contentLimit)
    #expect(error.content?.mediaType?.essence == "text/plain")
    #expect(
      error.description.contains(
        "was not sent completely: the server responded 201 after 9.9 of 30 MB, then the connection closed. "))
    #expect(error.message == "Not everything could be sent. Try again.")
    #expect(error.errorDescription == error.message)
    #expect(!ReconnectState.Failure(error, isFinal: false).isTemporary)
  }

  @Test("After the response head, the end of the request leaves the phase receiving unchanged")
  func phase() {
    var state = CallState()
    func record(_ kind: TraceEvent.Kind) {
      state.append(TraceEvent(kind: kind, instant: MonotonicInstant(sinceStart: .zero)))
    }
    record(.exchangeStarted)
    state.headArrived(HTTPResponse(status: .created))
    record(.headArrived(status: 201))
    record(.requestSent)
    #expect(state.phase == .receiving)
  }
}
