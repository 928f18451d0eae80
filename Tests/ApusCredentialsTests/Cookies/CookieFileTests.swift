import Apus
import ApusMiddleware
import ApusTesting
import Foundation
import Testing

@testable import ApusCredentials

@Suite("A jar in a file")
struct CookieFileTests {
  @Test("Cookies survive a restart with their order, bytes and attributes, and the jar keeps its number")
  func restart() async throws {
    try await CredentialsFolder.with { place in
      let first = CookieServer(try place.jar())
      #expect(CredentialsFolder.mode(of: place.file) == 0o600)
      try await first.set("session=\u{e9}\"\\; Path=/")
      try await first.set("old=1; Path=/; Max-Age=60")
      try await first.set("secure=2; Path=/; Secure; HttpOnly; SameSite=Lax")
      try await first.set("deep=3; Path=/any/where")
      try await first.set("wide=4; Path=/; Domain=example.com")
      let before = try await first.sent(to: "/any/where")
      #expect(before == "deep=3; session=\u{e9}\"\\; old=1; secure=2; wide=4")
      let next = CookieServer(try place.jar())
      #expect(next.jar.hasContent(of: first.jar))
      let after = try await next.sent(to: "/any/where")
      #expect(after == before)
      // Over http and after a minute.
      place.wall.advance(by: 61)
      let plain = CookieServer(try place.jar(), "http://api.example.com")
      let rest = try await plain.sent()
      #expect(rest == "session=\u{e9}\"\\; wide=4")
      #expect(place.names == ["credentials"])
    }
  }

  @Test("A call returns when its cookies are in the file, and a cookie that does not change writes nothing")
  func saved() async throws {
    try await CredentialsFolder.with { place in
      let disk = CookieDisk()
      let server = CookieServer(try place.jar(reached: disk.reached))
      #expect(disk.writes == 1)
      for (cookie, writes) in [
        ("a=1; Path=/", 2), ("a=1; Path=/", 2), ("a=2; Path=/", 3), ("b=1; Path=/; Max-Age=9", 4),
        ("b=1; Path=/; Max-Age=9", 4), ("c=1; Max-Age=0", 4), ("b=; Path=/; Max-Age=0", 5),
        ("d=1; Domain=other.com", 5),
      ] {
        let notes = try await server.set(cookie)
        #expect(disk.writes == writes && notes.allSatisfy { !$0.contains("not saved") }, "\(cookie)")
        #expect(try place.jar().hasContent(of: server.jar))
      }
    }
  }

  @Test("A sign-out empties the file before it returns, and renews the number")
  func signOut() async throws {
    try await CredentialsFolder.with { place in
      let server = CookieServer(try place.jar())
      try await server.set("a=1; Path=/")
      let number = server.jar.number
      try await server.api.signOut()
      let next = try place.jar()
      #expect(next.number == server.jar.number && next.number != number && next.saved.isEmpty)
      try await server.set("b=2; Path=/")
      #expect(try "\(place.jar())" == "CookieJar (1 cookies, in credentials)")
    }
  }

  @Test("removeAll starts to empty the file")
  func removeAll() async throws {
    try await CredentialsFolder.with { place in
      let server = CookieServer(try place.jar())
      try await server.set("a=1; Path=/")
      server.jar.removeAll()
      await server.jar.storage?.waitUntilSaved()
      #expect(try place.jar().saved.isEmpty)
      #expect(try place.jar().number == server.jar.number)
    }
  }

  @Test("The cookies of another account are removed, and the jar is empty")
  func account() async throws {
    try await CredentialsFolder.with { place in
      let server = CookieServer(try place.jar(account: "ada@example.com"))
      try await server.set("a=1; Path=/")
      let other = try place.jar(account: "grace@example.com")
      #expect(other.saved.isEmpty && other.number != server.jar.number)
      let again = try place.jar(account: "ada@example.com")
      #expect(again.saved.isEmpty && again.number != server.jar.number && again.number != other.number)
    }
  }

  @Test("A passphrase seals the file, and its key is derived once per jar")
  func passphrase() async throws {
    try await CredentialsFolder.with { place in
      let server = CookieServer(try place.jar(key: .passphrase("correct horse")))
      try await server.set("a=1; Path=/")
      let next = CookieServer(try place.jar(key: .passphrase("correct horse")))
      let sent = try await next.sent()
      #expect(sent == "a=1")
      let wrong = await place.problem(key: .passphrase("battery staple"))
      #expect(wrong == .wrongKeyOrDamaged)
      let kind = await place.problem()
      #expect(kind == .keyKindMismatch)
    }
  }

  @Test("Concurrent calls share writes, and the last state is saved")
  func concurrent() async throws {
    try await CredentialsFolder.with { place in
      let disk = CookieDisk()
      let jar = try place.jar(reached: disk.reached)
      let stub = StubTransport()
      stub.on { _, _ in
        true
      } reply: { exchange in
        .status(204, fields: ["Set-Cookie": "\(exchange.target.dropFirst())=1; Path=/"])
      }
      let api = Client(baseURL: "https://api.example.com", transport: stub) { $0.cookies = jar }
      try await withThrowingTaskGroup { group in
        for number in 0..<40 { group.addTask { try await api.send(Request<Void>.method(.get, "/\(number)")) } }
        try await group.waitForAll()
      }
      #expect(disk.writes <= 41)
      #expect(try place.jar().hasContent(of: jar))
      #expect("\(jar)".hasPrefix("CookieJar (40 cookies"))
    }
  }

  @Test("The cookies of a call that was cancelled during its response are saved")
  func cancelled() async throws {
    try await CredentialsFolder.with { place in
      let server = CookieServer(try place.jar())
      let isSet = Gate()
      server.stub.on { _, _ in
        true
      } reply: { _ in
        withUnsafeCurrentTask { $0?.cancel() }
        isSet.open()
        return .status(204, fields: ["Set-Cookie": "a=1; Path=/"])
      }
      let call = Task { try await server.api.send(Request<Void>.method(.get, "/")) }
      try await isSet.wait()
      _ = await call.result
      await server.jar.storage?.waitUntilSaved()
      #expect(try place.jar().hasContent(of: server.jar))
    }
  }

  @Test("A jar with public suffixes serves every host of a redirect, and no Domain reaches a public suffix")
  func allHosts() async throws {
    try await CredentialsFolder.with { place in
      let isPublicSuffix: @Sendable (String) -> Bool = { ["uk", "co.uk", "com"].contains($0) }
      let jar = try CookieJar(
        file: place.file, key: .file(place.keyFile), account: "ada", isPublicSuffix: isPublicSuffix)
      let server = CookieServer(jar, "https://www.shop.co.uk")
      server.stub.on(
        .get, "/start",
        reply: .status(
          302,
          fields: [
            "Location": "https://id.other.com/login", "Set-Cookie": "shop=1; Path=/; Domain=shop.co.uk",
            "Set-Cookie": "all=1; Path=/; Domain=co.uk",
          ]))
      server.stub.on(
        .get, "/login",
        reply: .status(302, fields: ["Location": "https://pay.shop.co.uk/end", "Set-Cookie": "id=1; Path=/"]))
      try await server.api.send(Request<Void>.method(.get, "/start"))
      #expect(server.stub.exchanges.map { $0.field("Cookie") ?? "" } == ["", "", "shop=1"])
      #expect(jar.description.hasPrefix("CookieJar (2 cookies"))
    }
  }
}
