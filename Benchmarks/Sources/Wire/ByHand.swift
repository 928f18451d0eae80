import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import Samples

/// SwiftNIO's HTTP/1 handlers without a client library: a connection for each caller, and a decoder.
struct ByHand {
  private let connections: [any Channel]
  private let base: String
  private let decoder = JSONDecoder()

  init(port: Int, connections count: Int) async throws {
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHTTPClientHandlers()
        try channel.pipeline.syncOperations.addHandler(OneExchange())
      }
    }
    var connections: [any Channel] = []
    for _ in 0..<count { connections.append(try await bootstrap.connect(host: "127.0.0.1", port: port).get()) }
    self.connections = connections
    base = "127.0.0.1:\(port)"
    // Without a request, nginx would close the connections after a minute.
    for caller in 0..<count { _ = try await person(by: caller) }
  }

  func person(by caller: Int) async throws -> Person { try await get("/users/\(7)", by: caller) }

  func people(_ count: Int, by caller: Int) async throws -> [Person] { try await get("/arrays/\(count)", by: caller) }

  private func get<Value: Decodable>(_ path: String, by caller: Int) async throws -> Value {
    let channel = connections[caller]
    guard channel.isActive else { throw Unexpected() }
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path)
    head.headers.add(name: "Host", value: base)
    head.headers.add(name: "Accept", value: "application/json")
    let content = channel.eventLoop.makePromise(of: ByteBuffer.self)
    channel.writeAndFlush(OneExchange.Request(head: head, content: content), promise: nil)
    return try decoder.decode(Value.self, from: try await content.futureResult.get())
  }
}

/// A handler that sends a request, and collects the content (body) of its response.
private final class OneExchange: ChannelDuplexHandler {
  struct Request: Sendable {
    let head: HTTPRequestHead
    let content: EventLoopPromise<ByteBuffer>
  }

  typealias OutboundIn = Request
  typealias OutboundOut = HTTPClientRequestPart
  typealias InboundIn = HTTPClientResponsePart

  private var promise: EventLoopPromise<ByteBuffer>?
  private var content = ByteBuffer()

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let request = unwrapOutboundIn(data)
    self.promise = request.content
    context.write(wrapOutboundOut(.head(request.head)), promise: nil)
    context.write(wrapOutboundOut(.end(nil)), promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      if head.status != .ok { fail() }
    case .body(var bytes):
      if content.readableBytes == 0 { content = bytes } else { content.writeBuffer(&bytes) }
    case .end:
      let collected = content
      content = ByteBuffer()
      let promise = self.promise
      self.promise = nil
      promise?.succeed(collected)
    }
  }

  func channelInactive(context: ChannelHandlerContext) { fail() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail()
    context.close(promise: nil)
  }

  private func fail() {
    promise?.fail(Unexpected())
    promise = nil
  }
}
