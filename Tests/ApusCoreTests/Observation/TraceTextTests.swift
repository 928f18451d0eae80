import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

@Suite("Traces as text")
struct TraceTextTests {
  private static let instant = MonotonicInstant(sinceStart: .zero)
  private static let aged = {
    var info = ConnectionInfo(.http1)
    info.age = .milliseconds(12_400)
    return info
  }()
  private static let multiplexed = {
    var info = ConnectionInfo(.http2)
    (info.stream, info.openStreams, info.maximumStreams) = (41, 3, 100)
    return info
  }()
  private static let texts: [(kind: TraceEvent.Kind, text: String)] = [
    (
      .attemptFailed(
        FailedAttempt(
          2, in: instant...instant, .status(503), .retry(after: .milliseconds(1050), .serverDelay))),
      "attempt failed with status 503: retry in 1050.000 ms, as the server asked"
    ), (.started, "started"), (.prepared, "request prepared"), (.coalesced(serial: 7), "coalesced with call #7"),
    (.attemptStarted, "attempt started"), (.credentialsAdded(generation: 3), "credentials added, generation 3"),
    (.credentialsRejected(generation: 3), "credentials rejected by the server, generation 3"),
    (.awaitingCredentials(generation: 3), "waiting until the credentials of generation 3 are replaced"),
    (.queued(.origin(limit: 5)), "queued: concurrency limit of its origin, 5"),
    (.admitted(after: .microseconds(40_250)), "admitted after 40.250 ms"),
    (.exchangeStarted, "exchange started"), (.connected(reused: true), "reused connection"),
    (.connected(reused: false), "new connection"), (.requestSent, "request sent"),
    (.connected(reused: false, ConnectionInfo(.http1)), "new HTTP/1.1 connection"),
    (.connected(reused: true, aged), "reused HTTP/1.1 connection, 12 s old"),
    (.connected(reused: true, multiplexed), "reused HTTP/2 connection, 0 s old, stream 41, 3 of 100 streams"),
    (.headArrived(status: 503), "response with status 503"),
    (.sendProgress(sent: 5, expected: 9), "sent 5 of 9 bytes"),
    (.sendProgress(sent: 5, expected: nil), "sent 5 of an unknown number of bytes"),
    (.receiveProgress(received: 0, expected: 0), "received 0 of 0 bytes"),
    (.receiveProgress(received: 1, expected: nil), "received 1 of an unknown number of bytes"),
    (.contentArrived(length: 12), "content complete, 12 bytes"), (.decoded, "decoded"),
    (.cancelRequested(.caller), "cancel requested: the caller's task was cancelled"),
    (.cancelRequested(.requested), "cancel requested: by the app"),
    (.cancelRequested(.superseded), "cancel requested: superseded by a newer call"),
    (.cancelRequested(.deadline(.connecting)), "cancel requested: deadline passed while connecting"),
    (.note("served stale, age in seconds", 90), "served stale, age in seconds: 90"), (.succeeded, "succeeded"),
    (.cache(CacheStatus(remainingSeconds: 17)), "cache: Apus; hit; ttl=17"),
    (.failed(.tls), "failed: tls"), (.phase(.nameLookup, .microseconds(1500)), "name lookup: 1.500 ms"),
    (.resent, "resent on a new connection: the reused one was closed before any byte of the response"),
    (.interim(status: 103), "interim response with status 103"), (.firstByteArrived, "first byte of the response"),
    (
      .redirected(
        status: 307, from: Origin(scheme: "http", host: "a", port: 80),
        to: Origin(scheme: "https", host: "b", port: 8443)),
      "redirected with status 307 from http://a to https://b:8443"
    ),
  ]

  /// Numbers the kinds exhaustively, so that a new kind fails to compile until it is added to the list.
  private func number(of kind: TraceEvent.Kind) -> Int {
    switch kind {
    case .started: 0
    case .prepared: 1
    case .coalesced: 2
    case .attemptStarted: 3
    case .credentialsAdded: 4
    case .credentialsRejected: 5
    case .exchangeStarted: 6
    case .connected: 7
    case .requestSent: 8
    case .headArrived: 9
    case .sendProgress: 10
    case .receiveProgress: 11
    case .contentArrived: 12
    case .decoded: 13
    case .cancelRequested: 14
    case .note: 15
    case .succeeded: 16
    case .failed: 17
    case .phase: 18
    case .resent: 19
    case .interim: 20
    case .firstByteArrived: 21
    case .redirected: 22
    case .awaitingCredentials: 23
    case .attemptFailed: 24
    case .queued: 25
    case .admitted: 26
    case .cache: 27
    }
  }

  @Test("Every kind of trace event has a description")
  func kinds() {
    #expect(Set(Self.texts.map { number(of: $0.kind) }) == Set(0...27))
    for (kind, text) in Self.texts { #expect(kind.description == text) }
    #expect(Set(Self.texts.map(\.text)).count == Self.texts.count)
  }

  private func trace(_ events: [(TraceEvent.Kind, after: Duration, attempt: Int)]) -> Trace {
    let start = MonotonicInstant(sinceStart: .seconds(1000))
    return Trace(
      id: "load", endpoint: EndpointIdentity(method: .get, template: "/users/{}"),
      events: events.map { TraceEvent(kind: $0.0, instant: start.advanced(by: $0.after), attempt: $0.attempt) })
  }

  @Test(
    "The text of a trace has a line for each event, with milliseconds since the start, and the numbers of later attempts"
  )
  func timeline() {
    let trace = trace([
      (.started, .zero, 1), (.headArrived(status: 503), .microseconds(80_005), 1),
      (.exchangeStarted, .milliseconds(1130), 2), (.failed(.timeout), .seconds(12_345_678), 2),
    ])
    #expect(
      "\(trace)" == """
        call load GET /users/{}
             0.000 ms  started
            80.005 ms  response with status 503
          1130.000 ms  [attempt 2] exchange started
        12345678000.000 ms  [attempt 2] failed: timeout
        """)
    #expect(trace.duration == .seconds(12_345_678))
  }

  @Test("The text of a trace without events is only a title")
  func empty() {
    let trace = trace([])
    #expect("\(trace)" == "call load GET /users/{}")
    #expect(trace.duration == .zero)
  }

  @Test("Trace notes with equal text are equal")
  func notes() {
    let notes: [TraceNote] = ["waited, ms", "waited, ms", "shed"]
    #expect(notes[0] == notes[1] && notes[0] != notes[2])
    #expect(Set(notes).count == 2)
    #expect(TraceEvent.Kind.note("shed", 1) != .note("shed", 2))
  }
}
