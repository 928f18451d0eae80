import ApusCore
import ApusURLSession
import Testing

@Suite("Facts of the transport")
struct FactsTests {
  @Test(
    "`URLSessionTransport.facts` lists the connection limit as a setting, because with HTTP/2 exchanges share connections"
  )
  func limits() {
    #expect(URLSessionTransport().facts == [.setting("HTTP/1.1 connections per host", "6")])
    var options = URLSessionTransport.Options()
    options.maximumConnectionsPerHost = 2
    options.reusesConnections = false
    #expect(
      URLSessionTransport(options: options).facts.map(\.description) == [
        "HTTP/1.1 connections per host 2", "no reuse of connections",
      ])
  }
}
