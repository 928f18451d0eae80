#if NIO
  import ApusCore
  import ApusNIO
  import Testing

  @Suite("What the transport says it is set to")
  struct FactsTests {
    private func line(_ change: (inout NIOTransport.Options) -> Void) -> String {
      var options = NIOTransport.Options()
      change(&options)
      return NIOTransport(options: options).facts.map(\.description).joined(separator: ", ")
    }

    @Test("it tells its limits")
    func limits() {
      #expect(
        line { _ in } == "16 connections to one origin, 256 in all, connect limit 10 s, first byte limit 60 s, "
          + "stall limit 20 s, idle limit 60 s")
    }

    @Test("it tells what is not as usual, too")
    func unusual() {
      let text = line {
        $0.connectTimeout = nil
        $0.waiting = 100
        $0.maximumAge = .seconds(300)
        $0.proxy = .environment
      }
      #expect(text.contains("connect limit none,"))
      #expect(text.hasSuffix(", waiting up to 100, age limit 300 s, proxy of the environment's variables"))
    }

    @Test("of a proxy it tells the place, and not who asks")
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
#endif
