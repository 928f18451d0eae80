// For samples in the documentation comments of ApusTesting.
import ApusTesting

let stub = StubTransport()

let gate = Gate()

nonisolated(unsafe) var settings = ClientSettings()

enum LoopbackServer {
  static func start() async throws -> any ConformanceServer { throw CancellationError() }
}

struct MyTransport: Transport {
  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    throw CancellationError()
  }
}
