import ApusCore
import ApusMiddleware
import ApusTesting
import Synchronization
import Testing

/// A text that must never be seen anywhere but on the wire.
let sentinel = "s3nt1nel-SECRET-0xDEADBEEF"

/// The middlewares of this target in their order, over a stub.
struct TestClient {
  var environment: Environment
  var settings = ClientSettings()
  var timeout: Duration?
  var onSessionEnd: (@Sendable (SessionEnd) -> Void)?
  var customize: (inout Pipeline) -> Void = { _ in }

  init(_ baseURL: BaseURL = "https://api.example.com/v1", name: String = "default") {
    environment = Environment(name, baseURL: baseURL)
  }

  func over(_ transport: any Transport) -> Client {
    var pipeline = Pipeline()
    pipeline.insert(CommonParameters(), .after(.validation))
    pipeline.insert(TotalDeadline(standard: timeout), .after(.totalDeadline))
    pipeline.insert(Credentials(onSessionEnd: onSessionEnd), .after(.credentials))
    customize(&pipeline)
    return Client(environment: environment, pipeline: pipeline, transport: transport, settings: settings)
  }
}

extension StubTransport {
  /// A stub that answers everything the same way.
  static func answering(_ answer: StubAnswer = .status(204)) -> StubTransport {
    let stub = StubTransport()
    stub.onAny(answer: answer)
    return stub
  }
}

/// The values that were recorded, in order.
final class Told<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  private let gate = Gate()

  var all: [Element] { elements.withLock { $0 } }

  @Sendable func add(_ element: Element) {
    elements.withLock { $0.append(element) }
    gate.open()
  }

  /// Waits until a value was recorded.
  func first() async throws {
    try await gate.wait()
  }
}

/// Holds every pass until its gate opens.
struct Hold: Middleware {
  let gate: Gate

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await gate.wait()
    return try await next(request, context: context)
  }
}

/// Asks for nothing and takes whatever comes.
extension Endpoint where Self == Request<Void> {
  static var ping: Self { .get("/ping") }
}

/// The error that a call ended with; `nil` when it ended well. Any other error than a call's fails the test.
func failure(
  at location: SourceLocation = #_sourceLocation, _ call: () async throws -> some Sendable
) async -> CallError? {
  do {
    _ = try await call()
    return nil
  } catch let error as CallError {
    return error
  } catch {
    Issue.record(error, sourceLocation: location)
    return nil
  }
}

/// Everything that printing, reflecting and dumping a value shows.
func texts(of value: Any) -> String {
  var dumped = ""
  dump(value, to: &dumped)
  return [String(describing: value), String(reflecting: value), "\(value)", dumped].joined(separator: "\n")
}
