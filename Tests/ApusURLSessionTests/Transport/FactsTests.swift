import ApusCore
import ApusURLSession
import Testing

@Suite("What the transport says it is set to")
struct FactsTests {
  @Test("it tells its limit on connections, as a setting: with HTTP/2 exchanges share one")
  func limits() {
    #expect(URLSessionTransport().facts == [.setting("HTTP/1.1 connections to one host", "6")])
    var options = URLSessionTransport.Options()
    options.connectionsPerHost = 2
    options.reusesConnections = false
    #expect(
      URLSessionTransport(options: options).facts.map(\.description) == [
        "HTTP/1.1 connections to one host 2", "a new one for each exchange",
      ])
  }
}
