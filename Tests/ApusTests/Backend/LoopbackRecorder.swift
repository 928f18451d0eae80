import Apus
import ApusNIO
import ApusTestServer
import LoopbackConformance

/// A loopback server, called with the SwiftNIO transport, over HTTP/2 if the server has a gateway.
struct LoopbackRecorder: RecordingServer {
  let server: TestServer
  let gateway: (any Gateway)?

  var baseURL: BaseURL { BaseURL(stringLiteral: gateway?.origin ?? server.origin) }
  var requests: [ReceivedRequest] { server.exchanges.map { ReceivedRequest($0.request) } }
  var mostInFlight: Int { server.peakInFlight }

  func transport() -> any Transport {
    var options = NIOTransport.Options()
    // Disables the timeouts, so that tests do not fail on a busy machine.
    (options.connectTimeout, options.firstByteTimeout, options.stallTimeout) = (nil, nil, nil)
    if gateway != nil { options.protocols = [.http2] }
    return NIOTransport(options: options)
  }

  func waitForRequests(_ count: Int) async throws {
    try await server.exchanges(atLeast: count)
  }

  func waitUntilLeft(_ path: String) async throws {
    try await server.waitForClientClose(of: server.exchange { $0.path == path })
  }
}

extension ReceivedRequest {
  init(_ request: RecordedRequest) {
    self.init(
      number: request.number, method: request.method, path: request.path, text: request.text,
      authorization: request.fields["Authorization"])
  }
}

extension ScriptedReply {
  /// The reply of the test server.
  var reply: Reply {
    let lines = FieldLines(fields.map { FieldLine(name: $0.key, value: $0.value) })
    let reply: Reply =
      switch ending {
      case .whole: .text(text, status: status, fields: lines)
      case .silence: .stalled
      case .halfway: Reply.text("0123456789").stalling(at: .content(4))
      case .broken: .closed
      }
    return latch.map { reply.waiting(for: $0.server) } ?? reply
  }
}
