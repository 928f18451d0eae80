import ApusCore
import ApusNIO
import Testing

@Suite("Facts of the transport")
struct FactsTests {
  private func line(_ change: (inout NIOTransport.Options) -> Void) -> String {
    var options = NIOTransport.Options()
    change(&options)
    return NIOTransport(options: options).facts.map(\.description).joined(separator: ", ")
  }

  @Test("`NIOTransport.facts` lists the transport's limits")
  func limits() {
    #expect(
      line { _ in } == "16 connections per origin, 256 in total, protocols HTTP/2, HTTP/1.1, connect limit 10 s, "
        + "first byte limit 60 s, stall limit 20 s, idle limit 60 s")
  }

  @Test("`NIOTransport.facts` lists settings that differ from the defaults")
  func unusual() {
    let text = line {
      $0.connectTimeout = nil
      $0.maximumWaiting = 100
      $0.maximumConnectionAge = .seconds(300)
      $0.proxy = .environment
    }
    #expect(text.contains("connect limit none,"))
    #expect(text.hasSuffix(", queue 100, age limit 300 s, proxy from the environment"))
  }

  @Test("`NIOTransport.facts` has a proxy's host and port, but not its credentials")
  func proxy() {
    let text = line { options in
      options.proxy = .proxy(
        NIOTransport.Proxy(
          host: "proxy.test", port: 3128,
          credentials: NIOTransport.Proxy.Credentials(user: "ada", password: "s3nt1nel")))
    }
    #expect(text.hasSuffix(", proxy proxy.test:3128"))
    #expect(!text.contains("ada") && !text.contains("s3nt1nel"))
  }
}
