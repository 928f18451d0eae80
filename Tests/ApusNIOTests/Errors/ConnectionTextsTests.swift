import ApusCore
import ApusTestServer
import Foundation
import NIOCore
import NIOSSL
import Testing

@testable import ApusNIO

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Error details of connections")
struct ConnectionTextsTests {
  private let server = ConnectPeer(host: "127.0.0.1", port: 8080, isProxy: false)
  private let proxy = ConnectPeer(host: "proxy.example", port: 3128, isProxy: true)

  @Test(
    "The detail of a system error describes the error and contains the address of the peer",
    arguments: [
      (ECONNREFUSED, "connection refused by 127.0.0.1:8080", .connectionFailed),
      (ECONNRESET, "connection reset by 127.0.0.1:8080 while it was being made", .connectionFailed),
      (EHOSTUNREACH, "no route to 127.0.0.1:8080", .connectionFailed),
      (ENETUNREACH, "the network of 127.0.0.1:8080 is unreachable", .offline),
      (ENETDOWN, "the network is down: 127.0.0.1:8080 cannot be reached", .offline),
      (ETIMEDOUT, "127.0.0.1:8080 did not accept the connection in time", .timeout),
      (EMFILE, "too many files are open for a connection to 127.0.0.1:8080", .connectionFailed),
      (EADDRNOTAVAIL, "no local port is free for a connection to 127.0.0.1:8080", .connectionFailed),
      (EACCES, "the system does not permit a connection to 127.0.0.1:8080", .connectionFailed),
      (EPROTO, "no connection to 127.0.0.1:8080: Protocol error", .connectionFailed),
    ] as [(CInt, String, CallError.Code)])
  func system(code: CInt, text: String, errorCode: CallError.Code) {
    let error = TransportError(
      connecting: IOError(errnoCode: code, reason: "connection reset (error set)"), to: server)
    #expect(error.detail == text && error.code == errorCode && error.requestState == .notSent)
  }

  @Test("Error details identify a proxy as a proxy, and contain a host with the address that was tried")
  func peers() throws {
    let refused = IOError(errnoCode: ECONNREFUSED, reason: "connect")
    #expect(
      TransportError(connecting: refused, to: proxy).detail == "connection refused by the proxy proxy.example:3128")
    let address = try SocketAddress(ipAddress: "192.0.2.7", port: 3128)
    #expect(
      TransportError(connecting: AddressFailure(address: address, underlying: refused), to: proxy).detail
        == "connection refused by the proxy proxy.example:3128 (192.0.2.7)")
    #expect(
      TransportError(connecting: AddressFailure(address: address, underlying: refused), to: server).detail
        == "connection refused by 127.0.0.1:8080")
    #expect(
      TransportError(connecting: ChannelError.eof, to: server).detail
        == "127.0.0.1:8080 closed the connection while it was being made")
    #expect(TransportError(connecting: Unexpected(), to: server).detail == "no connection to 127.0.0.1:8080")
  }

  @Test(
    "A TLS error is described by its reason",
    arguments: [
      ("CERTIFICATE_VERIFY_FAILED", "the certificate is self-signed or issued by an authority that is not trusted"),
      ("WRONG_VERSION_NUMBER", "the server does not speak TLS at this port"),
      ("TLSV1_ALERT_PROTOCOL_VERSION", "the server accepts no TLS version that is allowed here"),
      ("TLSV1_ALERT_INTERNAL_ERROR", "the server ended the TLS handshake with the alert internal error"),
      ("SSLV3_ALERT_ILLEGAL_PARAMETER", "the server ended the TLS handshake with the alert illegal parameter"),
      ("DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "the TLS handshake failed: decryption failed or bad record mac"),
    ])
  func reasons(name: String, text: String) {
    let line = "Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:\(name) at /src/ssl/handshake.cc:298"
    #expect(TLSFailure.reason(named: TLSFailure.name(in: line)) == text)
    #expect(TLSFailure.name(in: "Error: something else") == nil)
  }

  @Test("No TLS error prints a source path")
  func paths() {
    let errors: [any Error] = [
      NIOSSLError.noCertificateToValidate, NIOSSLError.unableToValidateCertificate, NIOSSLError.uncleanShutdown,
      NIOSSLError.failedToLoadCertificate, NIOSSLError.handshakeFailed(.zeroReturn),
      NIOSSLError.handshakeFailed(.sslError([])), NIOSSLError.handshakeFailed(.syscallError),
      NIOSSLExtraError.failedToValidateHostname, NIOSSLExtraError.serverHostnameImpossibleToMatch,
      BoringSSLError.unknownError([]),
    ]
    for error in errors {
      let told = TransportError(connecting: error, to: server)
      #expect(told.code == .tls)
      #expect(told.detail.hasPrefix("no secure connection to 127.0.0.1:8080: "))
      #expect(!told.detail.contains("/") && !told.detail.contains("Error"), "\(told.detail)")
    }
  }

  // MARK: Over sockets

  private func fail(_ url: String, _ configure: (inout NIOTransport.Options) -> Void = { _ in }) async throws
    -> String
  {
    try await NIOTransport.with(configure) { transport in
      let client = try makeClient(url, transport)
      return try #require(await failure { try await client.send(message()) }).detail
    }
  }

  @Test("The error detail for a port without a listener contains the server or the proxy that refused the connection")
  func refused() async throws {
    let number = try SilentPort.free()
    #expect(try await fail("http://127.0.0.1:\(number)") == "connection refused by 127.0.0.1:\(number)")
    let named = try await fail("http://localhost:\(number)")
    #expect(named.hasPrefix("connection refused by localhost:\(number) ("))
    for url in ["http://example.test", "https://example.test"] {
      let text = try await fail(url) { $0.proxy = .proxy(.init(host: "127.0.0.1", port: number)) }
      #expect(text == "connection refused by the proxy 127.0.0.1:\(number)")
    }
  }

  @Test(
    "The error detail for a proxy that opens no tunnel contains the proxy's status",
    arguments: [
      ("HTTP/1.1 403 Forbidden\r\n\r\n", nil, "refused the tunnel (CONNECT: status 403)"),
      ("HTTP/1.1 407 Who\r\n\r\n", nil, "requires credentials (CONNECT: status 407)"),
      ("HTTP/1.1 407 Who\r\n\r\n", "user", "rejected the credentials (CONNECT: status 407)"),
      ("", nil, "closed the connection in response to CONNECT"),
    ] as [(String, String?, String)])
  func tunnel(answer: String, user: String?, text: String) async throws {
    try await TunnelServer.with(to: 1, answer: answer) { proxy in
      let told = try await fail("https://example.test") {
        $0.proxy = .proxy(
          .init(host: "127.0.0.1", port: proxy.port, credentials: user.map { .init(user: $0, password: "sentinel") }))
      }
      #expect(told == "the proxy 127.0.0.1:\(proxy.port) \(text)")
    }
  }

  private func handshake(
    _ tls: TestServer.TLS?, host: String = "localhost", trusting authority: String? = nil
  ) async throws -> (text: String, port: Int) {
    try await TestServer.with(options: .init(tls: tls)) { _ in
      .text("")
    } body: { server in
      let text = try await fail("https://\(host):\(server.port)") {
        if let authority { $0.trust.additionalTrustRoots = [Data(authority.utf8)] }
      }
      return (text, server.port)
    }
  }

  @Test("The error detail for a rejected certificate contains the reason", arguments: ["localhost", "127.0.0.1"])
  func certificates(host: String) async throws {
    let authority = try TestAuthority.shared()
    var told = try await handshake(authority.tls(), host: host)
    let prefix = "no secure connection to \(host):"
    #expect(
      told.text
        == "\(prefix)\(told.port): the certificate is self-signed or issued by an authority that is not trusted")
    told = try await handshake(authority.tls(\.other), host: host, trusting: authority.certificate)
    #expect(told.text == "\(prefix)\(told.port): the certificate is for another host")
    told = try await handshake(authority.tls(\.expired), host: host, trusting: authority.certificate)
    #expect(told.text.hasPrefix("\(prefix)\(told.port): the certificate expired on 2"), "\(told.text)")
  }

  @Test("The error detail for a server without TLS, or without a recent version of TLS, contains the reason")
  func versions() async throws {
    var told = try await handshake(nil)
    #expect(told.text.hasPrefix("no secure connection to localhost:\(told.port): "))
    #expect(told.text.hasSuffix("the server does not speak TLS at this port"), "\(told.text)")
    let authority = try TestAuthority.shared()
    var tls = authority.tls()
    tls.newestVersion = .tls11
    told = try await handshake(tls, trusting: authority.certificate)
    #expect(
      told.text
        == "no secure connection to localhost:\(told.port): the server accepts no TLS version that is allowed here")
  }

  @Test("The error of a handshake without the required client certificate states that a certificate is required")
  func clientCertificate() async throws {
    let authority = try TestAuthority.shared()
    var tls = authority.tls()
    tls.clientAuthorities = authority.certificate
    let told = try await handshake(tls, trusting: authority.certificate)
    #expect(
      told.text == "the server requires a client certificate (alert certificate required)"
        || told.text.hasSuffix("closed the connection before the response was complete"), "\(told.text)")
  }
}
