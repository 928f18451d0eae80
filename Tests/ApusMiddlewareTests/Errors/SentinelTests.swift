import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("No output contains a secret, regardless of the failure")
struct SentinelTests {
  /// An observer that records the printed output of registry entries.
  private struct Reader: CallObserver {
    let texts: Log<String>

    func observe(_ event: TraceEvent, of call: CallEntry) {
      texts.add(ApusMiddlewareTests.texts(of: call))
      texts.add(ApusMiddlewareTests.texts(of: event))
      texts.add("\(call.id) \(call.urlTemplate) \(call.trace) \(call.tags) \(call.environment) \(call.endpoint)")
    }
  }

  private struct Holder {
    let error: CallError
    let maybe: CallError?
    let result: Result<Int, CallError>
  }

  /// Returns all descriptions and messages of an error, by name.
  private func shown(_ error: CallError) -> [String: String] {
    [
      "description": error.description, "debugDescription": error.debugDescription,
      "reflected": String(reflecting: error), "texts": texts(of: error), "any": texts(of: error as any Error),
      "held": texts(of: Holder(error: error, maybe: error, result: .failure(error))), "listed": texts(of: [error]),
      "errorDescription": error.errorDescription ?? "", "sentence": error.message, "detail": error.detail,
      "place": error.codingPath ?? "", "trace": "\(error.trace)",
      "trace's texts": texts(of: error.trace), "endpoint": texts(of: error.endpoint),
      "cancellation": texts(of: error.cancellation as Any),
    ]
  }

  @Test("Errors, traces, registry entries, log lines and curl lines contain no secret", arguments: FailingCall.all)
  private func everywhere(call: FailingCall) async throws {
    for scheme in FailingCall.Scheme.allCases {
      let (lines, paths, entries) = (LogRecorder(), LogRecorder(), Log<String>())
      let (error, bench) = try await call.run(scheme) {
        $0.settings.observers = [
          RequestLogging(lines.logger()), RequestLogging(paths.logger(), showsPaths: true), Reader(texts: entries),
        ]
      }
      #expect(error.code == call.code)
      for (name, text) in shown(error) {
        // The path of a file on the device may be in logs, but not in messages for people.
        let shown: Set<SecretPlace> = ["errorDescription", "sentence"].contains(name) ? [] : [.requestFile]
        #expect(SecretPlace.leaks(in: text).subtracting(shown) == [], "\(name): \(text)")
      }
      for text in entries.all + lines.lines.all.map(\.text) { #expect(SecretPlace.leaks(in: text) == [], "\(text)") }
      #expect(!entries.all.isEmpty && !lines.lines.all.isEmpty)
      // Path values are logged if the app enables paths in logs.
      for text in paths.lines.all.map(\.text) {
        #expect(SecretPlace.leaks(in: text).subtracting([.pathValue]) == [], "\(text)")
      }
      for text in [texts(of: bench.api), texts(of: bench.api.environment), texts(of: call.request)] {
        #expect(SecretPlace.leaks(in: text) == [], "\(text)")
      }
      for exchange in bench.stub.exchanges {
        #expect(SecretPlace.leaks(in: texts(of: exchange.request)) == [])
        #expect(SecretPlace.leaks(in: exchange.request.curl()).subtracting([.pathValue]) == [])
      }
    }
  }

  @Test("All secrets were on the wire, so that the leak tests are effective", arguments: FailingCall.Scheme.allCases)
  private func onTheWire(scheme: FailingCall.Scheme) async throws {
    let call = try #require(FailingCall.ways(to: .offline).first)
    let (error, bench) = try await call.run(scheme)
    let exchange = try #require(bench.stub.exchanges.first)
    let sent: Set<SecretPlace> = [
      .baseQuery, .pathValue, .ownParameter, .commonParameter, .ownField, .commonField, .sensitiveField, .cookie,
      .requestContent, .credential,
    ]
    let wire = exchange.request.curl(redaction: nil)
    #expect(SecretPlace.leaks(in: wire) == (scheme == .basic ? sent.union([.userName]) : sent))
    // The underlying error contains the secret, for programs only.
    #expect(SecretPlace.leaks(in: "\(try #require(error.underlying))") == [.cause])
    let refused = try await FailingCall.ways(to: .rejected)[0].run(scheme)
    #expect(SecretPlace.leaks(in: texts(of: refused.error.content as Any)) == [.responseContent])
  }

  @Test("The curl line of a message is masked")
  func described() async throws {
    let call = try #require(FailingCall.ways(to: .offline).first)
    for scheme in FailingCall.Scheme.allCases {
      let api = call.client(scheme).over(StubTransport())
      let message = try await api.message(for: call.request)
      #expect(SecretPlace.leaks(in: message.curl()) == [.pathValue])
      #expect(SecretPlace.leaks(in: texts(of: message)) == [])
    }
  }

  @Test("The server's own message is only in the error's message for people")
  func sentence() async throws {
    let secret = SecretPlace.responseContent.secret
    let call = FailingCall("a sentence", (.rejected, .decoding, .responded)) {
      $0.answer = .accepted(#"{"message":"Not for \#(secret)."}"#, status: 409)
    }
    let lines = LogRecorder()
    let (error, _) = try await call.run { $0.settings.observers = [RequestLogging(lines.logger())] }
    #expect(error.errorDescription == "Not for \(secret).")
    for text in [texts(of: error), error.detail, "\(error.trace)"] + lines.lines.all.map(\.text) {
      #expect(SecretPlace.leaks(in: text) == [])
    }
  }

  @Test("No text of a base URL contains its query")
  func baseURL() throws {
    let url = try BaseURL("https://api.example.com/v1?key=\(SecretPlace.baseQuery.secret)")
    #expect(SecretPlace.leaks(in: texts(of: url) + texts(of: [url])) == [])
    let refused = #expect(throws: BaseURL.ParseError.self) {
      try BaseURL("https://me:\(SecretPlace.baseUser.secret)@api.example.com")
    }
    #expect(SecretPlace.leaks(in: texts(of: refused as Any)) == [])
  }

  @Test("The leak search finds a secret in plain text, Base64 and bytes")
  func finding() {
    let secret = SecretPlace.cookie.secret
    var bytes = ""
    dump(Array("a\(secret)b".utf8), to: &bytes)
    for text in ["<\(secret)>", bytes] + ["", "u", "u:"].map({ "Basic " + base64($0 + secret + "tail") }) {
      #expect(SecretPlace.leaks(in: text) == [.cookie])
    }
  }
}
