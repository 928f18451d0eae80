#if NIO
  import ApusCore
  import NIOCore
  import NIOSSL
  import NIOTLS

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// Makes a connection secure: nothing of a request is written before it is.
  enum Handshake {
    /// Does the handshake on a channel's loop. The future fails with what went wrong; nothing is closed then.
    static func perform(
      with host: String, on channel: any Channel, context: NIOSSLContext, pins: [PinnedHost]
    ) -> EventLoopFuture<Void> {
      let done = channel.eventLoop.makePromise(of: Void.self)
      do {
        let name = serverName(host)
        let chain = pins.cover(host, at: Date()) ? VerifiedChain() : nil
        let tls =
          try chain?.handler(context: context, serverName: name)
          ?? NIOSSLClientHandler(context: context, serverHostname: name)
        let waiting = HandshakeHandler(done: done) {
          guard HostIdentity.covers(host, names: tls.peerCertificate.map(names(in:)) ?? []) else {
            return TLSFailure(reason: TLSFailure.wrongHost)
          }
          guard let chain, !pins.accept(chain.keys, from: host, at: Date()) else { return nil }
          return TLSFailure(reason: "the host shows none of the keys pinned for it")
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

    /// The name to ask for and to find in the certificate; `nil` for an address, which is compared with the peer's.
    private static func serverName(_ host: String) -> String? {
      guard AddressLookup.literal(host, port: 443) == nil else { return nil }
      let bytes = host.utf8
      return bytes.last == UInt8(ascii: ".") ? String(decoding: bytes.dropLast(), as: UTF8.self) : host
    }
  }

  /// Waits for the end of the handshake, and leaves.
  private final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private var done: EventLoopPromise<Void>?
    private let check: () -> TLSFailure?
    private let explain: (any Error) -> TLSFailure?

    /// - Parameters:
    ///   - check: looks at what the server has shown once the handshake is done; `nil`: nothing is wrong.
    ///   - explain: the reason for an error of the handshake, where it is one of TLS.
    init(
      done: EventLoopPromise<Void>, check: @escaping () -> TLSFailure?,
      explain: @escaping (any Error) -> TLSFailure?
    ) {
      self.done = done
      self.check = check
      self.explain = explain
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case .handshakeCompleted = event as? TLSUserEvent {
        let error = check()
        finish(error.map { .failure($0) } ?? .success(()))
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

    private func finish(_ result: Result<Void, any Error>) {
      done?.completeWith(result)
      done = nil
    }
  }
#endif
