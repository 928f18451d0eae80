import ApusCore
import ApusMiddleware
import ApusTesting
import Testing

@Suite("Errors, code by code")
struct ErrorCodeTests {
  @Test("An error's code, phase and request state match the failure", arguments: FailingCall.all)
  private func facts(call: FailingCall) async throws {
    let (error, bench) = try await call.run()
    #expect(error.code == call.code)
    #expect(error.phase == call.phase)
    #expect(error.requestState == call.state)
    #expect(error.trace.events.last?.kind == .failed(call.code))
    #expect(error.isCancellation == (call.code == .cancelled))
    #expect(bench.api.calls.isEmpty)
  }

  @Test("Every error code is reached by a real call", arguments: CallError.Code.allCases)
  func reached(code: CallError.Code) {
    #expect(!FailingCall.ways(to: code).isEmpty)
    #expect(FailingCall.ways(to: code).allSatisfy { $0.code == code })
  }

  @Test(
    "The request state of an error matches the requests that the transport received", arguments: FailingCall.all)
  private func sent(call: FailingCall) async throws {
    let (error, bench) = try await call.run()
    // If calls have colliding ids, the first call is not the call under test.
    let own = bench.stub.exchanges.filter { $0.call == error.id && $0.target.contains("/reset/") }
    if error.attempts == 0 { #expect(own.isEmpty && error.requestState == .notSent) }
    if own.isEmpty { #expect(error.requestState == .notSent) }
    if error.requestState == .responded { #expect(error.attempts == 1 && own.count == 1) }
  }

  /// Two codes, malformedResponse and decoding, have the same message because they mean the same to a person.
  @Test("Each error code has an English message, which is unique except for two codes")
  func english() async throws {
    var sentences: [String: Set<CallError.Code>] = [:]
    for code in CallError.Code.allCases {
      // A server's own message would replace the English message.
      let sentence = try await sentence(of: code, named: "a challenge") { _ in }
      #expect(sentence.first?.isUppercase == true && sentence.hasSuffix(".") && sentence.contains(" "), "\(sentence)")
      #expect(!sentence.contains(code.rawValue) || code == .offline || code == .cancelled)
      sentences[sentence, default: []].insert(code)
    }
    #expect(sentences.values.filter { $0.count > 1 } == [[.malformedResponse, .decoding]])
  }

  @Test("A client's own error messages replace all English messages", arguments: CallError.Code.allCases)
  func replaced(code: CallError.Code) async throws {
    let german = ErrorTexts { error in
      switch error.code {
      case .timeout: "Der Server antwortet nicht (\(error.phase))."
      case .rejected: "Abgelehnt: \(error.status ?? 0), \(error.rejection?.message ?? "ohne Grund")."
      default: "Fehler \(error.code.rawValue)."
      }
    }
    let expected =
      switch code {
      case .timeout: "Der Server antwortet nicht (awaitingHead)."
      case .rejected: "Abgelehnt: 422, No.."
      default: "Fehler \(code.rawValue)."
      }
    #expect(try await sentence(of: code) { $0.settings.errorTexts = german } == expected)
  }

  @Test("A client's own error messages may fall back to the English messages")
  func fallback() async throws {
    let texts = ErrorTexts { $0.code == .offline ? "Kein Netz." : ErrorTexts.english.text($0) }
    #expect(try await sentence(of: .offline) { $0.settings.errorTexts = texts } == "Kein Netz.")
    let english = try await sentence(of: .tls) { _ in }
    #expect(try await sentence(of: .tls) { $0.settings.errorTexts = texts } == english)
  }

  /// Returns the message of the first failure with a code, which must be equal in all properties.
  private func sentence(
    of code: CallError.Code, named name: String? = nil, _ adjust: (inout TestClient) -> Void
  ) async throws -> String {
    let ways = FailingCall.ways(to: code)
    let call = try #require(ways.first { $0.name == name } ?? ways.first)
    let (error, _) = try await call.run(.bearer, adjust)
    #expect(error.errorDescription == error.message)
    return error.message
  }
}
