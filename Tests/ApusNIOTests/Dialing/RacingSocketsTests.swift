#if NIO
  import ApusTestServer
  import NIOCore
  import NIOPosix
  import Testing

  @testable import ApusNIO

  @Suite("Addresses of which some do not answer")
  struct RacingSocketsTests {
    /// Races to addresses: the port that was reached, and how long it took.
    private func race(_ ports: [Int]) async throws -> (port: Int?, time: Duration) {
      let addresses = try ports.map { try SocketAddress(ipAddress: "127.0.0.1", port: $0) }
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      let done = loop.makePromise(of: Int?.self)
      let start = ContinuousClock.now
      loop.execute {
        AddressRace(addresses, on: loop) { result in
          done.completeWith(
            result.map { channel in
              defer { channel.close(promise: nil) }
              return channel.remoteAddress?.port
            })
        }.start()
      }
      let port = try await done.futureResult.get()
      return (port, start.duration(to: .now))
    }

    @Test("the next address is not tried before 250 ms have passed with one that does not answer", arguments: [1, 2])
    func staggered(silentAddresses: Int) async throws {
      let silent = try (0..<silentAddresses).map { _ in try SilentPort() }
      defer { withExtendedLifetime(silent) {} }
      try await TestServer.with { _ in
        .text("")
      } body: { server in
        let (port, time) = try await race(silent.map(\.number) + [server.port])
        #expect(port == server.port)
        #expect(time >= .milliseconds(250 * silentAddresses))
      }
    }
  }
#endif
