#if NIO
  import ApusCore
  import ApusTestServer
  import NIOCore
  import NIOPosix
  import Testing

  @testable import ApusNIO

  @Suite("Addresses")
  struct AddressRaceTests {
    /// Races to addresses and gives the port that was reached.
    private func race(_ ports: [Int]) async throws -> Int? {
      let addresses = try ports.map { try SocketAddress(ipAddress: "127.0.0.1", port: $0) }
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      let done = loop.makePromise(of: Int?.self)
      loop.execute {
        AddressRace(addresses, on: loop) { result in
          done.completeWith(
            result.map { channel in
              defer { channel.close(promise: nil) }
              return channel.remoteAddress?.port
            })
        }.start()
      }
      return try await done.futureResult.get()
    }

    @Test("the next address is not tried before 250 ms have passed with one that does not answer", arguments: [1, 2])
    func staggered(silentAddresses: Int) async throws {
      let silent = try (0..<silentAddresses).map { _ in try SilentPort() }
      defer { withExtendedLifetime(silent) {} }
      try await TestServer.with { _ in
        .text("")
      } body: { server in
        let start = ContinuousClock.now
        let port = try await race(silent.map(\.number) + [server.port])
        #expect(port == server.port)
        #expect(start.duration(to: .now) >= .milliseconds(250 * silentAddresses))
      }
    }

    @Test("an address that refuses or does not answer does not keep the next from being tried")
    func next() async throws {
      let silent = try SilentPort()
      defer { withExtendedLifetime(silent) {} }
      let refusing = try SilentPort.free()
      try await TestServer.with { _ in
        .text("")
      } body: { server in
        for before in [[], [refusing], [silent.number], [silent.number, refusing]] {
          let port = try await race(before + [server.port])
          #expect(port == server.port)
        }
      }
    }

    @Test("with no address left it fails, with the error of the first")
    func none() async throws {
      let refusing = try SilentPort.free()
      await #expect(throws: IOError.self) { try await race([refusing, refusing]) }
      await #expect(throws: AddressRace.NoAddress.self) { try await race([]) }
    }

    @Test("a host that is an address is not looked up, and one that has none is not found")
    func lookup() async throws {
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      for host in ["127.0.0.1", "[::1]"] {
        let addresses = try await AddressLookup.addresses(of: host, port: 80, on: loop).get()
        #expect(addresses.count == 1 && addresses.first?.port == 80)
      }
      for host in ["localhost", "example1.test", "1.2.3"] {
        #expect(AddressLookup.literal(host, port: 80) == nil)
      }
      let local = try await AddressLookup.addresses(of: "localhost", port: 80, on: loop).get()
      #expect(!local.isEmpty)
      // A name that no name can have: nobody is asked for it.
      let error = await #expect(throws: TransportError.self) {
        try await AddressLookup.addresses(of: "no such host", port: 80, on: loop).get()
      }
      #expect(error?.kind == .hostNotFound)
      #expect(error?.requestState == .notSent)
    }
  }
#endif
