import ApusCore
import Testing

@testable import ApusURLSession

@Suite("The platform's names of protocols")
struct NetworkProtocolNameTests {
  @Test(
    "The platform's name of a protocol becomes a version of HTTP, if there is one",
    arguments: [("http/1.1", .http1), ("h2", .http2), ("h3", nil), ("http/1.0", nil), ("", nil)]
      as [(String, HTTPVersion?)])
  func names(name: String, version: HTTPVersion?) {
    #expect(HTTPVersion(networkProtocolName: name) == version)
  }
}
