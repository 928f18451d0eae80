import Apus
import ApusNIO
import ApusTesting
import TestSupport
import Testing

@testable import ApusOAuth

@Suite("The loopback listener")
struct LoopbackListenerTests {
  private func get(_ url: String) async throws -> Response<Content> {
    let transport = NIOTransport()
    let client = Client(environment: Environment(baseURL: "http://127.0.0.1"), transport: transport)
    do {
      let response = try await client.response(
        to: Request<Content>(method: .get, path: .url(url), mapping: .content).accepting(.any))
      await transport.shutDown()
      return response
    } catch {
      await transport.shutDown()
      throw error
    }
  }

  private func port(of listener: LoopbackListener) throws -> UInt16 {
    try #require(UInt16(listener.redirect.split(separator: ":").last?.prefix { $0 != "/" } ?? ""))
  }

  @Test("The redirect gets a page as response and ends the wait; other requests do not end it")
  func arrival() async throws {
    let listener = try LoopbackListener(port: 0, path: "/callback", state: "s")
    #expect(listener.redirect.hasPrefix("http://127.0.0.1:"))
    let origin = String(listener.redirect.dropLast("/callback".count))
    #expect(try await get(origin + "/favicon.ico").status == 404)
    #expect(try await get(listener.redirect).status == 404)
    for query in ["code=c&state=x", "error=access_denied", "state=s&state=x", "code=c&state=", "error=a&state=x"] {
      #expect(try await get(listener.redirect + "?" + query).status == 404, "\(query)")
    }
    async let arrived = listener.arrival()
    let page = try await get(listener.redirect + "?code=c&state=s")
    #expect(page.status == 200)
    #expect(page.field("Referrer-Policy") == "no-referrer" && page.field("Cache-Control") == "no-store")
    #expect(String(decoding: page.value.data, as: UTF8.self).contains("close this window"))
    #expect(try await arrived == listener.redirect + "?code=c&state=s")
  }

  @Test("A redirect that arrives before the wait is not lost")
  func early() async throws {
    let listener = try LoopbackListener(port: 0, path: "/callback", state: "s")
    #expect(try await get(listener.redirect + "?state=s").status == 200)
    #expect(try await listener.arrival() == listener.redirect + "?state=s")
  }

  @Test("A wait ends when its task is cancelled, and the port is free again")
  func cancelled() async throws {
    let listener = try LoopbackListener(port: 0, path: "/", state: "s")
    let wait = Task { try await listener.arrival() }
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    listener.close()
    let port = try port(of: listener)
    try await waitWhile { (try? RawConnection(to: port)) != nil }
    // The port is free although the listener object still exists.
    withExtendedLifetime(listener) {}
  }

  @Test("After the redirect the port is free, even if the listener object still exists")
  func finished() async throws {
    let listener = try LoopbackListener(port: 0, path: "/callback", state: "s")
    let port = try port(of: listener)
    async let arrived = listener.arrival()
    #expect(try await get(listener.redirect + "?state=s").status == 200)
    #expect(try await arrived.hasSuffix("?state=s"))
    try await waitWhile { (try? RawConnection(to: port)) != nil }
    withExtendedLifetime(listener) {}
  }

  @Test("Idle connections do not block the browser")
  func idle() async throws {
    let listener = try LoopbackListener(port: 0, path: "/callback", state: "s")
    let port = try port(of: listener)
    let idle = try (0..<40).map { _ in try RawConnection(to: port) }
    async let arrived = listener.arrival()
    #expect(try await get(listener.redirect + "?state=s").status == 200)
    #expect(try await arrived.hasSuffix("?state=s"))
    withExtendedLifetime(idle) {}
  }

  @Test("Many connections that arrive before the listener starts do not block the browser")
  func backlog() async throws {
    let loop = try LoopbackLoop(port: 0, path: "/callback", state: "s")
    let idle = try (0..<64).map { _ in try RawConnection(to: loop.port) }
    let arrived = Log<String>()
    loop.start { if case .success(let target) = $0 { arrived.add(target) } }
    #expect(try await get("http://127.0.0.1:\(loop.port)/callback?state=s").status == 200)
    try await arrived.first()
    #expect(arrived.all == ["/callback?state=s"])
    withExtendedLifetime(idle) {}
  }

  @Test("A fixed port can be reused immediately after a sign-in")
  func again() async throws {
    var port: UInt16 = 0
    for round in 0..<3 {
      let listener = try LoopbackListener(port: port, path: "/callback", state: "s")
      port = try self.port(of: listener)
      async let arrived = listener.arrival()
      #expect(try await get(listener.redirect + "?state=s").status == 200, "\(round)")
      #expect(try await arrived.hasSuffix("?state=s"))
      let used = port
      try await waitWhile { (try? RawConnection(to: used)) != nil }
    }
  }

  @Test("An invalid path and a used port are errors")
  func unusable() throws {
    for path in ["callback", "", "/a b", "/a?b"] {
      #expect(throws: OAuthError.self) { try LoopbackListener(port: 0, path: path, state: "s") }
    }
    let listener = try LoopbackListener(port: 0, path: "/", state: "s")
    let port = try port(of: listener)
    #expect(throws: OAuthError.self) { try LoopbackListener(port: port, path: "/", state: "s") }
    listener.close()
  }
}
