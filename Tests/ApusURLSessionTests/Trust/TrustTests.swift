import ApusCore
import ApusURLSession
import Foundation
import Testing

@Suite("Trust")
struct TrustTests {
  @Test("A Trust's description contains neither the client's key nor its passphrase")
  func identity() {
    var trust = URLSessionTransport.Trust()
    trust.clientIdentity = ClientIdentity(
      pkcs12: Data("sentinel-container".utf8), passphrase: "sentinel-passphrase")
    var text = "\(trust) \(String(reflecting: trust))"
    dump(trust, to: &text)
    #expect(!text.contains("sentinel"))
    #expect(!text.contains(Data("sentinel-container".utf8).base64EncodedString()))
  }
}
