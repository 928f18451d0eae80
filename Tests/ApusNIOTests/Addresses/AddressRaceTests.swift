import ApusCore
import ApusTestServer
import NIOCore
import NIOPosix
import Testing

@testable import ApusNIO

@Suite("Address race")
struct AddressRaceTests {
  /// Runs a race and returns the port that was reached.
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

  @Test("The second address is tried after 250 ms if the first does not respond", arguments: [1, 2])
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

  @Test("The next address is tried after an address that refuses the connection or does not respond")
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

  @Test(
    "An unreachable IPv4 address is reported as offline; an unreachable IPv6 address is not",
    arguments: [
      (["::1 101"], EHOSTUNREACH), (["::1 101", "::2 100"], EHOSTUNREACH),
      (["::1 101", "10.0.0.1 111"], ECONNREFUSED),
      (["::1 101", "10.0.0.1 101"], ENETUNREACH), (["10.0.0.1 101"], ENETUNREACH),
      (["::1 111", "10.0.0.1 101"], ECONNREFUSED),
    ])
  func evidence(failures: [String], code: CInt) throws {
    let codes = ["100": ENETDOWN, "101": ENETUNREACH, "111": ECONNREFUSED]
    let made = try failures.map { text -> (address: SocketAddress, failure: any Error) in
      let parts = text.split(separator: " ").map { String($0) }
      let code = try #require(codes[parts[1]])
      return (try SocketAddress(ipAddress: parts[0], port: 80), IOError(errnoCode: code, reason: "connect"))
    }
    let cause = try #require(AddressRace.cause(of: made) as? AddressFailure)
    #expect((cause.underlying as? IOError)?.errnoCode == code)
    let error = TransportError(connecting: cause, to: ConnectPeer(host: "a", port: 80, isProxy: false))
    #expect((error.code == .offline) == (code == ENETUNREACH))
  }

  @Test("When every address fails, the first address's error is thrown")
  func none() async throws {
    let refusing = try SilentPort.free()
    let error = await #expect(throws: AddressFailure.self) { try await race([refusing, refusing]) }
    #expect(error?.underlying is IOError && error?.address.port == refusing)
    await #expect(throws: AddressRace.NoAddress.self) { try await race([]) }
  }

  @Test("A host that is an address is not resolved, and a name without addresses is not found")
  func lookup() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    for host in ["127.0.0.1", "[::1]"] { #expect(AddressLookup.literal(host, port: 80)?.port == 80) }
    for host in ["localhost", "example1.test", "1.2.3", "127.0.0.1\u{0}", "[127.0.0.1\u{0}.evil]"] {
      #expect(AddressLookup.literal(host, port: 80) == nil)
    }
    let local = try await NameResolver.system.lookUp("localhost", on: loop).addresses.get()
    #expect(!local.isEmpty)
    // Invalid names, for which no name server is queried.
    for name in ["no such host", "localhost\u{0}.evil"] {
      let error = await #expect(throws: TransportError.self) {
        try await NameResolver.system.lookUp(name, on: loop).addresses.get()
      }
      #expect(error?.code == .hostNotFound && error?.requestState == .notSent)
      #expect(error?.detail.hasPrefix("no address found for \(name): ") == true)
    }
  }
}
