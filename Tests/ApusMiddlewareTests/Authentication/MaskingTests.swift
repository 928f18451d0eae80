import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Logging
import Testing

@Suite("A secret appears only on the wire")
struct MaskingTests {
  /// The place of a secret in a message: the credentials of an authentication, or a field or parameter.
  enum Place: CaseIterable {
    case bearer, basicName, basicPassword, keyField, keyParameter, commonField, commonParameter, ownField, ownParameter
  }

  private func client(_ place: Place) -> TestClient {
    var client = TestClient()
    let token = MemoryCredentialsStore(token: sentinel)
    switch place {
    case .bearer: client.environment.authentication = .bearer(token)
    case .basicName:
      client.environment.authentication = .basic(MemoryCredentialsStore(.password(user: sentinel, "p")))
    case .basicPassword:
      client.environment.authentication = .basic(MemoryCredentialsStore(.password(user: "u", Secret(sentinel))))
    case .keyField: client.environment.authentication = .apiKey(token, field: "X-Api-Key")
    case .keyParameter: client.environment.authentication = .apiKey(token, queryParameter: "api_key")
    case .commonField: client.environment.setField("X-Tenant-Key", sentinel)
    case .commonParameter: client.environment.query = ["tenant": sentinel]
    case .ownField, .ownParameter: break
    }
    return client
  }

  private func endpoint(_ place: Place) -> Request<Void> {
    switch place {
    case .ownField: .get("/users/\(7)").field("X-Own", sentinel)
    case .ownParameter: .get("/users/\(7)", query: ["q": sentinel])
    default: .get("/users/\(7)")
    }
  }

  /// Whether a message contains the sentinel or its encoded form.
  private func isOnTheWire(_ place: Place, _ exchange: StubExchange) -> Bool {
    let wire = exchange.request.curl(redaction: nil)
    switch place {
    case .basicName: return wire.contains("czNudDFuZWwtU0VDUkVULTB4REVBREJFRUY6")
    case .basicPassword: return wire.contains("Basic dTpzM250MW5lbC1TRUNSRVQtMHhERUFEQkVFRg==")
    default: return wire.contains(sentinel)
    }
  }

  private func isClean(_ text: String) -> Bool {
    !text.contains(sentinel) && !text.contains("czNudDFuZWw") && !text.contains("dTpzM250MW5l")
  }

  /// The replies for which all output is checked.
  private static let replies: [StubReply] = [
    .status(204), .status(401), .status(500),
    .failure(TransportError(.offline, requestState: .notSent)), .failure(CancellationError()),
    .pieces(["a"]).failing(after: 1),
  ]

  @Test("Logs, traces, errors, descriptions, dumps and curl lines contain no secret", arguments: Place.allCases)
  func everywhere(place: Place) async throws {
    for reply in Self.replies {
      let stub = StubTransport.answering(reply)
      let log = LogRecorder()
      let entries = Log<String>()
      var client = client(place)
      client.settings.observers = [
        RequestLogging(log.logger()), TextObserver(texts: entries),
      ]
      let api = client.over(stub)
      var seen: [String] = []
      do throws(CallError) {
        let response = try await api.response(to: endpoint(place))
        seen += [texts(of: response), "\(response.trace)", texts(of: response.trace)]
      } catch {
        seen += [
          texts(of: error), error.errorDescription ?? "", "\(error.trace)", error.detail, error.codingPath ?? "",
        ]
      }
      seen += log.lines.all.map(\.text) + entries.all
      seen += [texts(of: api), texts(of: client.environment), texts(of: endpoint(place))]
      for exchange in stub.exchanges {
        #expect(isOnTheWire(place, exchange))
        seen += [texts(of: exchange.request), exchange.request.curl()]
      }
      #expect(!stub.exchanges.isEmpty && !log.lines.all.isEmpty && !entries.all.isEmpty)
      for text in seen { #expect(isClean(text), "\(place)") }
    }
  }

  @Test("A path value appears only in a curl line")
  func pathValues() async throws {
    let log = LogRecorder()
    let entries = Log<String>()
    var client = TestClient()
    client.settings.observers = [RequestLogging(log.logger()), TextObserver(texts: entries)]
    let api = client.over(StubTransport.answering(.status(410)))
    let endpoint = Request<Void>.get("/reset/\(sentinel)")
    let error = try #require(await failure { try await api.send(endpoint) })
    let seen = [texts(of: error), "\(error.trace)", texts(of: endpoint), texts(of: endpoint.path), texts(of: api)]
    for text in seen + log.lines.all.map(\.text) + entries.all { #expect(isClean(text)) }
  }

  @Test("Log lines with paths contain no secret of the query", arguments: [Place.keyParameter, .commonParameter])
  func shownPaths(place: Place) async throws {
    let log = LogRecorder()
    var client = client(place)
    client.settings.observers = [RequestLogging(log.logger(), showsPaths: true)]
    try await client.over(StubTransport.answering()).send(.get("/users/\(7)", query: ["page": 2]))
    #expect(log.lines.all.map(\.text).allSatisfy(isClean))
    #expect(log.lines.all.last?.metadata["url"]?.hasPrefix("https://api.example.com/v1/users/7?page=██&") == true)
  }

  @Test("A secret prints as a mask, alone and inside other values")
  func secrets() {
    let secret = Secret(sentinel)
    #expect("\(secret)" == "██")
    #expect(String(reflecting: secret) == "██")
    #expect(Mirror(reflecting: secret).children.isEmpty)
    struct Holder { let secret: Secret, list: [Secret], table: [String: Secret], maybe: Secret? }
    let holder = Holder(secret: secret, list: [secret], table: ["a": secret], maybe: secret)
    let store = MemoryCredentialsStore(.token(secret))
    let values: [Any] = [
      secret, holder, Credential.token(secret), Credential.password(user: sentinel, secret), store, store.current(),
      Authentication.bearer(store), Authentication.basic(store), Set([secret]),
    ]
    for value in values { #expect(isClean(texts(of: value))) }
  }

  @Test("A secret cannot be encoded")
  func notEncodable() {
    #expect(!(Secret("a") as Any is any Encodable))
    #expect(!(Credential.token("a") as Any is any Encodable))
  }

  @Test("The text of a raw field contains values that are on the allow-list, and masks all other values")
  func rawFields() {
    #expect("\(RawField("Accept", "text/csv"))" == "Accept: text/csv")
    #expect(texts(of: RawField("X-Key", sentinel)).contains("X-Key: ██"))
    #expect(isClean(texts(of: RawField("X-Key", sentinel))))
  }
}

/// An observer that records the printed output of each entry.
private struct TextObserver: CallObserver {
  let texts: Log<String>

  func observe(_ event: TraceEvent, of call: CallEntry) {
    texts.add(ApusMiddlewareTests.texts(of: call))
    texts.add("\(event) \(call.trace) \(call.urlTemplate)")
  }
}
