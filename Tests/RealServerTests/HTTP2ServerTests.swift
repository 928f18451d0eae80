#if os(Linux)
import Testing

// Servers that share no code with the client. What a server cannot do is left out.

@Suite("HTTP/2: nginx", .needs(.nginxHTTP2))
struct NginxHTTP2Tests {
  @Test("An exchange with nginx succeeds over HTTP/2", arguments: HTTP2Check.all(except: [.interim, .trailers]))
  func exchange(check: HTTP2Check) async throws {
    try await check.run(on: try await RealServer.nginxHTTP2.value)
  }
}

/// nghttp2's server, which pads its frames.
@Suite("HTTP/2: nghttpd", .needs(.nghttpd))
struct NghttpdTests {
  @Test(
    "An exchange with nghttpd succeeds over HTTP/2",
    arguments: HTTP2Check.all(except: [.noContent, .coded, .interim, .http1, .priorKnowledge]))
  func exchange(check: HTTP2Check) async throws {
    try await check.run(on: try await RealServer.nghttpd.value)
  }
}

@Suite("HTTP/2: h2o", .needs(.h2o))
struct H2OTests {
  @Test("An exchange with h2o succeeds over HTTP/2", arguments: HTTP2Check.all(except: [.interim, .trailers]))
  func exchange(check: HTTP2Check) async throws {
    try await check.run(on: try await RealServer.h2o.value)
  }
}

/// A gateway to a server of HTTP/1.1.
@Suite("HTTP/2: haproxy", .needs(.haproxy))
struct HAProxyTests {
  @Test("An exchange through haproxy succeeds over HTTP/2", arguments: HTTP2Check.all())
  func exchange(check: HTTP2Check) async throws {
    try await check.run(on: try await RealServer.haproxy.value)
  }
}

/// A server for applications in Python, which sends trailers only to clients that announce `TE`.
@Suite("HTTP/2: hypercorn", .needs(.hypercorn))
struct HypercornTests {
  @Test("An exchange with hypercorn succeeds over HTTP/2", arguments: HTTP2Check.all(except: [.trailers]))
  func exchange(check: HTTP2Check) async throws {
    try await check.run(on: try await RealServer.hypercorn.value)
  }
}
#endif
