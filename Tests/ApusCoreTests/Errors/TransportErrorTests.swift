import ApusTesting
import Testing

@testable import ApusCore

@Suite("From transport errors to call errors") struct TransportErrorTests {
  @Test(
    "A call error has the code and the request state of its transport error",
    arguments: [
      .offline, .hostNotFound, .connectionFailed, .tls, .connectionLost, .malformedResponse, .contentTooLarge, .timeout,
      .invalidRequest, .refused,
    ] as [CallError.Code])
  func table(code: CallError.Code) async throws {
    struct Cause: Error {}
    for state in [RequestState.notSent, .maybeSent, .responded] {
      let thrown = TransportError(code, requestState: state, detail: "why", underlying: Cause())
      let error = try #require(
        await failure {
          try await client(answering: .failure(thrown)).send(Request<Void>.get("/x"))
        })
      #expect(error.code == code)
      #expect(error.isUnreachable == [.offline, .hostNotFound, .connectionFailed].contains(code))
      #expect(error.requestState == state)
      #expect(error.detail == "why")
      #expect(error.underlying is Cause)
      #expect(error.errorDescription?.hasSuffix(".") == true)
      #expect(error.isCancellation == false)
    }
  }

  @Test("A refused call is throttled only if its error is attributed to traffic control", arguments: [true, false])
  func heldBack(isControl: Bool) async {
    let thrown = TransportError(.refused, requestState: .notSent)
    let error = await failure {
      try await client(answering: .failure(isControl ? thrown.attributed(to: .trafficControl) : thrown)).send(
        Request<Void>.get("/x"))
    }
    #expect(error?.code == .refused && error?.isThrottled == isControl)
  }

  @Test(
    "A timeout has the phase in which it occurred",
    arguments: [CallPhase.connecting, .awaitingHead, .receiving, .waiting])
  func phases(phase: CallPhase) async {
    let thrown = TransportError(.timeout, in: phase, requestState: .maybeSent)
    let error = await failure {
      try await client(answering: .failure(thrown)).send(Request<Void>.get("/x"))
    }
    #expect(error?.phase == phase)
  }

  @Test("An unknown error of a transport fails the call as connectionLost, with the error as the cause")
  func unknown() async {
    struct Odd: Error { var secret = "s3cr3t" }
    let error = await failure {
      try await client(answering: .failure(Odd())).send(Request<Void>.get("/x"))
    }
    #expect(error?.code == .connectionLost)
    #expect(error?.detail == "Odd")
    #expect((error?.underlying as? Odd)?.secret == "s3cr3t")
  }

  @Test("A cancellation by the transport is a cancellation")
  func cancellation() async {
    let error = await failure {
      try await client(answering: .failure(CancellationError())).send(Request<Void>.get("/x"))
    }
    #expect(error?.code == .cancelled && error?.isCancellation == true)
  }

  @Test("The description of a transport error has code, request state and detail")
  func descriptions() {
    #expect(TransportError(.tls, requestState: .notSent).description == "tls (notSent)")
    #expect(
      TransportError(.connectionLost, requestState: .maybeSent, detail: "reset").description
        == "connectionLost (maybeSent): reset")
    #expect(TransportError(.tls, requestState: .notSent).source == .server)
    #expect(TransportError(.tls, requestState: .notSent).attributed(to: .content).source == .content)
    #expect(TransportError.contentTooLarge(limit: 5).detail == "the content exceeds 5 bytes")
  }

  @Test("Every rejection has an English sentence, and common statuses have their own")
  func sentences() async throws {
    var sentences: Set<String> = []
    for status in [400, 401, 403, 404, 409, 413, 429, 500] {
      let error = try #require(
        await failure {
          try await client(answering: .status(status)).send(Request<Void>.get("/x"))
        })
      sentences.insert(try #require(error.errorDescription))
    }
    #expect(sentences.count == 8)
    for (one, other) in [(404, 410), (409, 412), (500, 503)] {
      let texts = await [one, other].asyncMap { status in
        await failure {
          try await client(answering: .status(status)).send(Request<Void>.get("/x"))
        }?.errorDescription
      }
      #expect(texts[0] == texts[1])
    }
  }
}

extension Array {
  fileprivate func asyncMap<Result>(_ transform: (Element) async -> Result) async -> [Result] {
    var results: [Result] = []
    for element in self { results.append(await transform(element)) }
    return results
  }
}
