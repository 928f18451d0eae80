#if NIO
  import NIOCore

  /// One connection: records what comes in, and has one exchange after the other answered.
  ///
  /// It never stops reading while an answer is under way, so a client that leaves is noticed at once. Bytes of a next
  /// request wait in the parser until the answer before is complete.
  final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Sent by an answer to its connection when it has nothing more to send.
    struct AnswerEnded: Sendable {
      /// Whether the next exchange may use the connection; when not, it is closed.
      var connectionPersists: Bool
    }

    private struct Current {
      var exchange: Int
      var isReceived = false
      var isAnswered = false
    }

    private let connection: Int
    private let recorder: Recorder
    private let handler: TestServer.Handler
    private let answersAt: TestServer.Options.Moment
    private var parser = RequestParser()
    private var current: Current?
    private var answer: Task<Void, Never>?
    /// Whether nothing more that comes in matters.
    private var isOver = false

    init(connection: Int, recorder: Recorder, handler: @escaping TestServer.Handler, options: TestServer.Options) {
      self.connection = connection
      self.recorder = recorder
      self.handler = handler
      self.answersAt = options.answersAt
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isOver else { return }
      parser.append(unwrapInboundIn(data).readableBytesView)
      advance(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
      isOver = true
      answer?.cancel()
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard let ended = event as? AnswerEnded, let current else {
        return context.fireUserInboundEventTriggered(event)
      }
      answer = nil
      guard !isOver else { return }
      if !ended.connectionPersists {
        isOver = true
        // With content still on its way a full close would be a reset, which could take the answer from the client.
        context.close(mode: current.isReceived ? .all : .output, promise: nil)
      } else if current.isReceived {
        self.current = nil
        advance(context)
      } else {
        self.current?.isAnswered = true
      }
    }

    /// Handles what the parser has, up to the next request while one is being answered.
    private func advance(_ context: ChannelHandlerContext) {
      do {
        while !isOver, current?.isReceived != true, let event = try parser.next() {
          handle(event, context)
        }
      } catch {
        reject(error, context)
      }
    }

    private func handle(_ event: RequestParser.Event, _ context: ChannelHandlerContext) {
      if case .head(let head) = event { return begin(head, context) }
      guard let exchange = current?.exchange else { return }
      switch event {
      case .head:
        break
      case .content(let content):
        recorder.received(content, of: exchange)
      case .end(let trailers):
        recorder.completed(exchange, trailers: trailers)
        if current?.isAnswered == true {
          current = nil
        } else {
          current?.isReceived = true
          if answersAt == .end { startAnswer(exchange, context.channel) }
        }
      }
    }

    private func begin(_ head: RequestParser.Head, _ context: ChannelHandlerContext) {
      guard let exchange = recorder.began(head, connection: connection) else {
        isOver = true
        return
      }
      current = Current(exchange: exchange)
      switch answersAt {
      case .head:
        startAnswer(exchange, context.channel)
      case .end:
        guard head.fields.contains("100-continue", in: "Expect") else { return }
        context.writeAndFlush(NIOAny(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
      }
    }

    private func startAnswer(_ exchange: Int, _ channel: any Channel) {
      let request = recorder.request(of: exchange)
      answer = Task { [recorder, handler] in
        let reply = await handler(request)
        var answer = Answer(to: request, on: channel, recorder: recorder)
        let connectionPersists = await answer.give(reply)
        channel.pipeline.fireUserInboundEventTriggered(AnswerEnded(connectionPersists: connectionPersists))
      }
    }

    private func reject(_ malformed: RequestParser.Malformed, _ context: ChannelHandlerContext) {
      isOver = true
      answer?.cancel()
      if let current, !current.isAnswered { recorder.finish(current.exchange, .malformed) }
      recorder.rejected(malformed.reason, connection: connection)
      let head =
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: \(malformed.reason.utf8.count)\r\n\r\n"
      context.writeAndFlush(NIOAny(ByteBuffer(string: head + malformed.reason)), promise: nil)
      context.close(mode: .output, promise: nil)
    }
  }
#endif
