import Apus
import ApusTesting
import HTTPTypes

/// A server that is replaced by a stub.
final class StubbedServer: RecordingServer {
  let baseURL: BaseURL
  private let stub = StubTransport()
  private let meter = Meter()

  init(host: String, _ make: @escaping ReplyMaker) {
    baseURL = BaseURL(stringLiteral: "https://\(host)")
    stub.on(where: { _, _ in true }, reply: { await make(ReceivedRequest($0)).answer })
  }

  var requests: [ReceivedRequest] { stub.exchanges.map { ReceivedRequest($0) } }
  var mostInFlight: Int { meter.most }

  func transport() -> any Transport { MeteredTransport(inner: stub, meter: meter) }

  func waitForRequests(_ count: Int) async throws {
    try await stub.waitForExchanges(count)
  }

  func waitUntilLeft(_ path: String) async throws {
    try await stub.wait { exchanges in
      exchanges.first { ReceivedRequest($0).path == path }?.outcome == .cancelled
    }
  }
}

extension ReceivedRequest {
  init(_ exchange: StubExchange) {
    self.init(
      number: exchange.id, method: exchange.method.rawValue, path: String(exchange.target.prefix { $0 != "?" }),
      text: exchange.text, authorization: exchange.fields[.authorization])
  }
}

extension ScriptedReply {
  /// The reply of the stub.
  fileprivate var answer: StubReply {
    var fields = HTTPFields()
    for (name, value) in self.fields {
      if let name = HTTPField.Name(name) { fields[name] = value }
    }
    let answer: StubReply =
      switch ending {
      case .whole: .text(text, status: status, fields: fields)
      case .silence: .stalled
      case .halfway: StubReply.pieces(["0123", "456789"]).stalled(after: 1)
      case .broken: .failure(TransportError(.connectionLost, requestState: .maybeSent))
      }
    return latch.map { answer.waiting(for: $0.stub) } ?? answer
  }
}
