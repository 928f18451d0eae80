import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The version of HTTP of a response")
struct ProtocolVersionTests {
  /// A transport that reports a version of HTTP.
  private struct Versioned: Transport {
    let stub: StubTransport
    let version: HTTPVersion?

    func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
      var response = try await stub.send(request, context: context)
      response.protocolVersion = version
      return response
    }
  }

  @Test(
    "A collected and a streamed response have the version that the transport reports",
    arguments: [HTTPVersion?.none, .http1, .http2])
  func versions(version: HTTPVersion?) async throws {
    let stub = StubTransport()
    stub.onAny(reply: .pieces(["a", "b"]))
    let api = Client(
      environment: Environment(baseURL: "https://api.example.com"), transport: Versioned(stub: stub, version: version))
    let response = try await api.response(to: Request<Data>.get("/"))
    #expect(response.value == Data("ab".utf8))
    #expect(response.protocolVersion == version)
    #expect(response.map { $0.count }.protocolVersion == version)
    let streamed = try await api.withResponse(to: Request<Data>.get("/")) { $0.protocolVersion }
    #expect(streamed == version)
  }

  @Test("A response that an app creates has no version of HTTP")
  func created() {
    #expect(Response(value: 1).protocolVersion == nil)
  }

  @Test("The version of HTTP and the number of streams do not make response messages larger")
  func size() {
    #expect(MemoryLayout<ResponseMessage>.size <= 56)
  }
}
