import HTTPTypes
import Testing

@testable import ApusCore

private let start = MonotonicInstant(sinceStart: .zero)

@Suite("Conditions to join a response in progress")
struct FlightTermsTests {
  @Test(
    "The directive no-store in Cache-Control is recognized in any case and position",
    arguments: [
      ("no-store", true), ("No-Store", true), ("max-age=60, no-store", true), ("private,\tno-store , x", true),
      ("no-cache", false), ("no-stores", false), ("", false), ("x-no-store", false), ("private=\"x-no-store\"", false),
    ])
  func noStore(line: String, isNoStore: Bool) {
    let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: line])
    #expect(ResponseProgress(head, received: 0).isNoStore == isNoStore)
    var fields = HTTPFields()
    fields[values: .cacheControl] = ["private", line]
    #expect(ResponseProgress(HTTPResponse(status: .ok, headerFields: fields), received: 0).isNoStore == isNoStore)
  }

  @Test("The size of a response is the larger of the bytes received and the announced length")
  func size() {
    func bytes(_ announced: String?, _ received: Int64) -> Int64 {
      var head = HTTPResponse(status: .ok)
      head.headerFields[.contentLength] = announced
      return ResponseProgress(head, received: received).bytes
    }
    #expect(bytes(nil, 7) == 7)
    #expect(bytes("9", 7) == 9)
    #expect(bytes("5", 7) == 7)
    #expect(bytes("many", 7) == 7)
    #expect(ResponseProgress(nil, received: 3) == ResponseProgress(bytes: 3))
  }

  @Test("Calls join up to the size limit and not beyond; calls with the same id always join")
  func limits() {
    let terms = FlightTerms(bytes: 10, joinsNoStore: false)
    let rows: [(ResponseProgress, Bool)] = [
      (ResponseProgress(), true), (ResponseProgress(bytes: 10), true), (ResponseProgress(bytes: 11), false),
      (ResponseProgress(bytes: 0, isNoStore: true), false), (ResponseProgress(bytes: 11, isNoStore: true), false),
    ]
    for (progress, isAdmitted) in rows {
      #expect(terms.admit(at: progress) == isAdmitted, "\(progress)")
      #expect(FlightTerms.named.admit(at: progress), "\(progress)")
    }
  }

  @Test(
    "Response progress is empty between attempts; after the end of a call it is the progress of the last response",
    arguments: waits)
  func betweenAttempts(kind: TraceEvent.Kind) {
    func append(_ kind: TraceEvent.Kind, to state: inout CallState) {
      state.append(TraceEvent(kind: kind, instant: start, attempt: 1))
    }
    let known = ResponseProgress(bytes: 3, isNoStore: true)
    var state = CallState()
    #expect(state.responseProgress == ResponseProgress())
    append(.exchangeStarted, to: &state)
    state.headArrived(HTTPResponse(status: .ok, headerFields: [.cacheControl: "no-store"]))
    append(.headArrived(status: 200), to: &state)
    _ = state.received(3, at: MonotonicInstant(sinceStart: .zero))
    #expect(state.responseProgress == known)
    append(kind, to: &state)
    #expect(state.responseProgress == ResponseProgress())
    var ended = state
    _ = ended.end(.succeeded, at: start)
    #expect(ended.responseProgress == known)
    append(.exchangeStarted, to: &state)
    #expect(state.responseProgress == ResponseProgress())
    _ = state.received(5, at: MonotonicInstant(sinceStart: .zero))
    #expect(state.responseProgress == ResponseProgress(bytes: 5))
  }

  private static let waits: [TraceEvent.Kind] = [
    .awaitingCredentials(generation: 1), .queued(.held),
    .attemptFailed(FailedAttempt(1, in: start...start, .status(503), .retry(after: .zero, .backoff))),
  ]
}
