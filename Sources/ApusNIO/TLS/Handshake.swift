import ApusCore
import NIOCore
import NIOSSL
import NIOTLS

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The TLS handshake of a connection. Nothing of a request is written before it has succeeded.
enum Handshake {
  /// Performs the handshake on the channel's loop. Returns the protocol that the server has chosen (ALPN), or `nil` if
  /// it chose none. The future fails with the cause; the channel then stays open.
  static func perform(
    with host: String, on channel: any Channel, context: NIOSSLContext, pins: [PinnedHost]
  ) -> EventLoopFuture<String?> {
    let done = channel.eventLoop.makePromise(of: String?.self)
    do {
      let name = serverName(host)
      let chain = pins.covers(host, at: Date()) ? VerifiedChain() : nil
      let tls =
        try chain?.handler(context: context, serverName: name)
        ?? NIOSSLClientHandler(context: context, serverHostname: name)
      let waiting = HandshakeHandler(done: done) {
        guard HostIdentity.covers(host, names: tls.peerCertificate.map(names(in:)) ?? []) else {
          return TLSFailure(reason: TLSFailure.wrongHost)
        }
        guard let chain, !pins.accepts(chain.keys, from: host, at: Date()) else { return nil }
        return TLSFailure(reason: "the host presents none of the keys pinned for it")
      } explain: { error in
        TLSFailure(error) { TLSFailure.fault(of: tls.peerCertificate, at: Date()) }
      }
      try channel.pipeline.syncOperations.addHandlers([tls, waiting])
      try channel.syncOptions?.setOption(.autoRead, value: true)
    } catch {
      done.fail(error)
    }
    return done.futureResult
  }

  private static func names(in certificate: NIOSSLCertificate) -> [HostIdentity.Name] {
    certificate._subjectAlternativeNames().compactMap { name in
      switch name.nameType {
      case .dnsName: .dns(Array(name.contents))
      case .ipAddress: .address(Array(name.contents))
      default: nil
      }
    }
  }

  /// Returns the name to request and to verify; `nil` for an address, which the library compares with the peer's
  /// address.
  private static func serverName(_ host: String) -> String? {
    guard AddressLookup.literal(host, port: 443) == nil else { return nil }
    let bytes = host.utf8
    return bytes.last == UInt8(ascii: ".") ? String(decoding: bytes.dropLast(), as: UTF8.self) : host
  }
}

/// A handler that waits for the end of the handshake, then leaves the pipeline.
private final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private var done: EventLoopPromise<String?>?
  private let check: () -> TLSFailure?
  private let explain: (any Error) -> TLSFailure?

  /// - Parameters:
  ///   - check: returns the fault of the server's certificates after the handshake; `nil` if there is none.
  ///   - explain: describes an error of the handshake if it is about TLS.
  init(
    done: EventLoopPromise<String?>, check: @escaping () -> TLSFailure?,
    explain: @escaping (any Error) -> TLSFailure?
  ) {
    self.done = done
    self.check = check
    self.explain = explain
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted(let name) = event as? TLSUserEvent {
      let error = check()
      finish(error.map { .failure($0) } ?? .success(name))
      context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    finish(.failure(explain(error) ?? error))
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish(.failure(ChannelError.eof))
    context.fireChannelInactive()
  }

  private func finish(_ result: Result<String?, any Error>) {
    done?.completeWith(result)
    done = nil
  }
}

/// The check that a certificate is valid for the requested host (RFC 9525 §6).
///
/// Performed in addition to the TLS library's check. That check also accepts a certificate for the peer's address when
/// a name was requested, even if the peer is a proxy.
enum HostIdentity {
  /// A name in a certificate. Only subject alternative names are compared.
  enum Name: Sendable, Hashable {
    case dns([UInt8])
    case address([UInt8])
  }

  /// Returns whether one of a certificate's names covers a host.
  ///
  /// - Parameters:
  ///   - host: a name, or an address with IPv6 in brackets.
  ///   - names: the names in the certificate.
  static func covers(_ host: String, names: [Name]) -> Bool {
    if let address = AddressBytes.of(host) { return names.contains(.address(address)) }
    var wanted = Array(host.utf8)
    if wanted.last == UInt8(ascii: ".") { wanted.removeLast() }
    return names.contains { name in
      guard case .dns(let pattern) = name else { return false }
      return matches(pattern, wanted)
    }
  }

  private static func matches(_ pattern: [UInt8], _ host: [UInt8]) -> Bool {
    let wanted = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let given = pattern.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard given.count == wanted.count, let first = given.first, let label = wanted.first, !label.isEmpty else {
      return false
    }
    guard zip(given.dropFirst(), wanted.dropFirst()).allSatisfy({ isSame($0, $1) }) else { return false }
    // A wildcard replaces one whole label, the first, and at least two labels follow it.
    return first.elementsEqual("*".utf8) ? given.count > 2 : isSame(first, label)
  }

  /// Whether two labels are equal, ignoring case.
  private static func isSame(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
    !one.isEmpty && one.elementsEqual(other) { lowercased($0) == lowercased($1) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
