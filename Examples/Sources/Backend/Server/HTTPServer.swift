import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix

/// The HTTP server: it accepts connections on 127.0.0.1, and sends the responses of a responder.
struct HTTPServer: Sendable {
  let responder: ExchangeResponder
  let connections: Connections
  let log: ExchangeLog
  let now: @Sendable () -> Date
  /// The value of the field `Server`.
  let name: String
  /// The port to listen on; 0 selects a free port.
  let port: Int

  /// Serves until the task is cancelled.
  ///
  /// - Parameter listening: called with the port once the server listens.
  /// - Throws: an error when the port is taken.
  func run(listening: (Int) -> Void) async throws {
    let (requests, received) = AsyncStream<ReceivedRequest>.makeStream()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          // `HTTPResponseHead` sets the framing fields, because the encoder does not recognize responses to HEAD.
          var encoding = HTTPResponseEncoder.Configuration()
          encoding.automaticallySetFramingHeaders = false
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: true, withEncoderConfiguration: encoding)
          try channel.pipeline.syncOperations.addHandler(
            ConnectionHandler(connections, log: log, now: now) { received.yield($0) })
        }
      }
      .bind(host: "127.0.0.1", port: port).get()
    listening(channel.localAddress?.port ?? 0)
    await withDiscardingTaskGroup { group in
      for await request in requests { group.addTask { await respond(to: request) } }
      // After a cancellation the server accepts neither new connections nor new requests on open connections.
      try? await channel.close()
      connections.close()
    }
  }

  /// Responds to a request. Closes the connection if this is its last request, and after an error.
  private func respond(to received: ReceivedRequest) async {
    let (connection, exchange) = (received.connection, received.exchange)
    do {
      let context = BackendContext(connection: connection, exchange: exchange)
      let response = try await responder.respond(to: received.request, context: context)
      try await send(response, isForHead: received.request.method == .head, over: connection.channel)
      if received.isLast || connection.hasLeft { connection.channel.close(promise: nil) }
    } catch {
      if error is ConnectionCut { exchange?.ended() } else { exchange?.clientLeft() }
      connection.channel.close(promise: nil)
    }
  }

  private func send(_ response: Response, isForHead: Bool, over channel: any Channel) async throws {
    let head = HTTPResponseHead(response, isForHead: isForHead, server: name)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    if head.status.mayHaveResponseBody, !isForHead {
      // A client may disconnect as soon as it has received `Content-Length` bytes, so these bytes are sent together
      // with the end. Content of unknown length is sent as it arrives.
      let isWhole = response.body.contentLength != nil
      if !isWhole { channel.flush() }
      do {
        try await response.body.write { bytes in
          let part = HTTPServerResponsePart.body(.byteBuffer(bytes))
          if isWhole { channel.write(part, promise: nil) } else { try await channel.writeAndFlush(part) }
        }
      } catch {
        try? await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer())))
        throw error
      }
    }
    try await channel.writeAndFlush(HTTPServerResponsePart.end(nil))
  }
}

/// A request that was received completely.
struct ReceivedRequest: Sendable {
  let request: Request
  let connection: Connection
  /// The log's exchange; `nil` for requests that are not logged.
  let exchange: Exchange?
  /// Whether the client requested to close the connection after the response.
  let isLast: Bool
}
