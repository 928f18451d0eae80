import ApusCore
import ApusTestServer
import Dispatch
import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import ApusNIO

@Suite("Name resolution")
struct NameResolverTests {
  /// A resolver whose lookups of names that begin with `hang` block until released; all other names resolve to
  /// 127.0.0.1.
  private final class Names: Sendable {
    private let gate = DispatchSemaphore(value: 0)
    private let asked = Mutex<[String]>([])
    private let hanging = Atomic(0)

    func search(_ name: String) throws -> [SocketAddress] {
      asked.withLock { $0.append(name) }
      if name.hasPrefix("hang") {
        hanging.add(1, ordering: .relaxed)
        _ = gate.wait(timeout: .now() + .seconds(120))
      }
      return [try SocketAddress(ipAddress: "127.0.0.1", port: 0)]
    }

    var names: [String] { asked.withLock { $0 } }

    func release() {
      for _ in 0..<100 { gate.signal() }
    }

    /// Returns when this number of lookups hang.
    func waitUntilHanging(_ count: Int) async throws {
      try await waitWhile(hanging.load(ordering: .relaxed) < count)
    }
  }

  private func with<Result>(
    width: Int = 4, waiting: Int = 8, _ configure: (inout NIOTransport.Options) -> Void = { _ in },
    body: (Names, NameResolver, NIOTransport) async throws -> Result
  ) async throws -> Result {
    let names = Names()
    defer { names.release() }
    let resolver = NameResolver(width: width, waiting: waiting) { try names.search($0) }
    var options = NIOTransport.Options.patient
    configure(&options)
    let transport = NIOTransport(options: options, resolver: resolver)
    do {
      let result = try await body(names, resolver, transport)
      await transport.shutDown()
      return result
    } catch {
      await transport.shutDown()
      throw error
    }
  }

  @Test(
    "Lookups that never end delay no other connection, file upload or TLS handshake",
    .timeLimit(.minutes(3)))
  func hanging() async throws {
    let authority = try TestAuthority.shared()
    let file = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID())")
    try Data(count: 300_000).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await TestServer.with(options: .init(tls: authority.tls())) { request in
      .text("\(request.contentLength)")
    } body: { server in
      try await with(width: max(2, System.coreCount) + 1) {
        $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
      } body: { names, _, transport in
        // The number of SwiftNIO's threads for blocking work.
        let count = max(2, System.coreCount)
        let hanging = try (0..<count).map { number in
          let client = try makeClient("http://hang\(number).test", transport)
          return Task { await failure { try await client.send(message()) } }
        }
        try await names.waitUntilHanging(count)
        let client = try makeClient("https://localhost:\(server.port)", transport)
        let content = RequestContent.file(file.path)
        let got = try await client.send(message(.put).content(content)).string
        #expect(got == "300000")
        for task in hanging { task.cancel() }
        for task in hanging { #expect(await task.value?.code == .cancelled) }
      }
    }
  }

  @Test("Calls to one name share its lookup")
  func sharing() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await with { names, resolver, transport in
        let client = try makeClient("http://hang.test:\(server.port)", transport)
        let calls = (0..<5).map { _ in Task { await failure { try await client.send(message()) } } }
        try await names.waitUntilHanging(1)
        try await waitWhile(resolver.load.callers < 5)
        names.release()
        for call in calls { #expect(await call.value == nil) }
        #expect(names.names == ["hang.test"])
        #expect(resolver.load == (0, 0, 0))
      }
    }
  }

  @Test("A queued lookup without callers leaves the queue", arguments: [true, false])
  func leaving(byCancellation: Bool) async throws {
    try await with(width: 1) { names, resolver, transport in
      let first = try makeClient("http://hang0.test", transport)
      let running = Task { await failure { try await first.send(message()) } }
      try await names.waitUntilHanging(1)
      let second = try makeClient("http://second.test", transport)
      let request = message().setting(
        ExchangeTimeouts.self, ExchangeTimeouts(connection: byCancellation ? nil : .milliseconds(50)))
      let waiting = Task { await failure { try await second.send(request) } }
      if byCancellation {
        try await waitWhile(resolver.load.waiting < 1)
        waiting.cancel()
      }
      let error = await waiting.value
      #expect(error?.code == (byCancellation ? .cancelled : .timeout) && error?.requestState == .notSent)
      try await waitWhile(resolver.load.waiting > 0 || transport.usage.connecting > 1)
      running.cancel()
      #expect(await running.value?.code == .cancelled)
      names.release()
      try await waitWhile(resolver.load.running > 0)
      #expect(names.names == ["hang0.test"])
    }
  }

  @Test("When the queue of names is full, the next lookup is refused immediately and nothing is sent")
  func tooMany() async throws {
    try await with(width: 1, waiting: 1) { names, resolver, transport in
      func call(_ host: String) throws -> Task<CallError?, Never> {
        let client = try makeClient("http://\(host)", transport)
        return Task { await failure { try await client.send(message()) } }
      }
      let running = try call("hang0.test")
      try await names.waitUntilHanging(1)
      let waiting = try call("second.test")
      try await waitWhile(resolver.load.waiting < 1)
      let third = try makeClient("http://third.test", transport)
      let error = await failure { try await third.send(message()) }
      #expect(error?.code == .refused && error?.requestState == .notSent)
      #expect(error?.detail.contains("third.test") == true)
      for call in [running, waiting] { call.cancel() }
      for call in [running, waiting] { _ = await call.value }
    }
  }
}
