// For the samples in ApusTesting's documentation.
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
