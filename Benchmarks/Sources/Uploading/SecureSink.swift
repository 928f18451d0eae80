import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension Sink {
  /// Serves over TLS until standard input closes. Prints the port first.
  ///
  /// - Parameters:
  ///   - certificates: the file with the certificate of 127.0.0.1.
  ///   - key: the file with the certificate's key.
  ///   - respond: returns the response, as it is sent, to the request line.
  public static func serve(
    certificates: String, key: String, _ respond: @escaping @Sendable (_ line: String) -> String
  ) throws {
    let chain = try NIOSSLCertificate.fromPEMFile(certificates).map { NIOSSLCertificateSource.certificate($0) }
    let key = try NIOSSLPrivateKey(file: key, format: .pem)
    let context = try NIOSSLContext(
      configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key)))
    let listener = try ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 256 << 10))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            NIOSSLServerHandler(context: context), ByteToMessageHandler(HTTPRequestDecoder()),
            DiscardingHandler(respond),
          ])
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    guard let port = listener.localAddress?.port else { throw NotServing() }
    try ServerProcess.announce(port)
  }
}

/// A handler that responds to each request after its content, which is discarded.
private final class DiscardingHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = ByteBuffer

  private let respond: (String) -> String
  private var line = ""

  init(_ respond: @escaping (String) -> String) {
    self.respond = respond
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let request):
      line = "\(request.method.rawValue) \(request.uri)"
      if request.headers.contains(name: "Expect") { write("HTTP/1.1 100 Continue\r\n\r\n", context) }
    case .body: break
    case .end: write(respond(line), context)
    }
  }

  private func write(_ text: String, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
  }
}
