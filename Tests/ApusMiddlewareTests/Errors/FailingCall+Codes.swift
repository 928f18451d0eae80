import ApusCore
import ApusMiddleware
import ApusTesting

extension FailingCall {
  /// Returns the failing calls for each code. The `switch` is exhaustive, so a new code needs a failing call.
  static func ways(to code: CallError.Code) -> [FailingCall] {
    switch code {
    case .invalidRequest: invalid + unusableCredentials
    case .encoding: unencodable
    case .refused: [declined, needing]
    case .offline: [refusing("no network", code, .notSent)]
    case .hostNotFound: [refusing("no address", code, .notSent)]
    case .connectionFailed: [refusing("no connection", code, .notSent)]
    case .tls: [refusing("no secure connection", code, .notSent)]
    case .timeout: timeouts
    case .cancelled: cancellations
    case .connectionLost: broken
    case .malformedResponse: [refusing("no HTTP", code, .responded)]
    case .contentTooLarge: [tooLarge]
    case .rejected: refusals
    case .decoding: undecodable
    case .handler: [handler]
    }
  }

  static var all: [FailingCall] { CallError.Code.allCases.flatMap(ways) }

  /// Returns a call over a transport that fails, with a secret in the descriptions of the cause.
  private static func refusing(_ name: String, _ code: CallError.Code, _ state: RequestState) -> FailingCall {
    FailingCall(name, (code, .awaitingHead, state)) {
      $0.answer = .failure(
        TransportError(code, requestState: state, detail: "said the transport", underlying: TellingError()))
    }
  }

  private static var declined: FailingCall {
    FailingCall("an id in use", (.refused, .preparing, .notSent)) {
      $0.gated = { .accepted().waiting(for: $0) }
      $0.change = { $0.id("one", onDuplicate: .refuse) }
      $0.before = { bench in
        bench.send(.get("/first").id("one", onDuplicate: .allow))
        try await bench.gate.waitForArrivals(1)
      }
    }
  }

  private static var timeouts: [FailingCall] {
    [
      FailingCall("no answer", (.timeout, .awaitingHead, .maybeSent)) {
        $0.gated = { .accepted().waiting(for: $0) }
        $0.change = { $0.timeout(.seconds(1)) }
        $0.meanwhile = { bench, _ in try await expire(bench, afterArrivals: 1) }
      },
      FailingCall("no time at all", (.timeout, .waiting, .notSent)) { $0.change = { $0.timeout(.zero) } },
      FailingCall("content that stops", (.timeout, .receiving, .responded)) {
        $0.gated = stopping
        $0.change = { $0.timeout(.seconds(1)) }
        $0.meanwhile = { bench, _ in try await expire(bench, afterArrivals: 2) }
      },
      refusing("a transport's own limit", .timeout, .maybeSent),
    ]
  }

  private static var cancellations: [FailingCall] {
    [
      FailingCall("on request", (.cancelled, .awaitingHead, .maybeSent)) {
        $0.gated = { .accepted().waiting(for: $0) }
        $0.meanwhile = { bench, _ in
          try await bench.gate.waitForArrivals(1)
          bench.api.calls.cancel(tag: "t")
        }
      },
      FailingCall("the caller's task", (.cancelled, .receiving, .responded)) {
        $0.gated = stopping
        $0.meanwhile = { bench, call in
          try await bench.gate.waitForArrivals(2)
          call.cancel()
        }
      },
      FailingCall("superseded", (.cancelled, .awaitingHead, .maybeSent)) {
        $0.gated = { .accepted().waiting(for: $0) }
        $0.change = { $0.latestWins("one") }
        $0.meanwhile = { bench, _ in
          try await bench.gate.waitForArrivals(1)
          bench.send(.get("/next").latestWins("one"))
        }
      },
    ]
  }

  /// Returns a reply with one piece of content that then stalls.
  @Sendable private static func stopping(_ gate: Gate) -> StubReply {
    gate.release(1)
    return .pieces([SecretPlace.responseContent.secret, "more"], gate: gate)
  }

  private static func expire(_ bench: Bench, afterArrivals count: Int) async throws {
    try await bench.gate.waitForArrivals(count)
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
  }

  private static var broken: [FailingCall] {
    [
      refusing("the connection breaks", .connectionLost, .maybeSent),
      FailingCall("an error of the platform", (.connectionLost, .awaitingHead, .maybeSent)) {
        $0.answer = .failure(TellingError())
      },
      FailingCall("content that breaks off", (.connectionLost, .receiving, .responded)) {
        $0.answer = .pieces([SecretPlace.responseContent.secret, "more"]).failing(after: 1)
      },
    ]
  }

  private static var tooLarge: FailingCall {
    FailingCall("content above the limit", (.contentTooLarge, .receiving, .responded)) {
      $0.change = { $0.contentLimit(10) }
    }
  }

  private static var handler: FailingCall {
    FailingCall("the app's closure throws", (.handler, .handling, .responded)) {
      $0.handler = { response in
        _ = try await response.collect()
        throw TellingError()
      }
    }
  }
}
