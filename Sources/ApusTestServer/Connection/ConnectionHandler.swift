#if NIO
  import NIOCore
  import NIOSSL

  /// One connection: records what comes in, and has one exchange after the other answered.
  ///
  /// It never stops reading while an answer is under way, so a client that leaves is noticed at once. Bytes of a next
  /// request wait in the parser until the answer before is complete, and while a fault of the request is under way.
  final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Sent by an answer to its connection when it has nothing more to send.
    struct AnswerEnded: Sendable {
      /// Whether the next exchange may use the connection; when not, it is closed.
      var connectionPersists: Bool
    }

    /// Sent by a fault of the request to its connection when it is over.
    private struct FaultEnded: Sendable {
      var connectionPersists: Bool
    }

    private struct Current {
      var exchange: Int
      var isReceived = false
      var isAnswered = false
      /// What is still to go wrong with its content, and after how many bytes.
      var contentFault: (effect: Fault.Effect, length: Int)?
    }

    private let connection: Int
    private let recorder: Recorder
    private let handler: TestServer.Handler
    private let answersAt: TestServer.Options.Moment
    private let faults: [Fault]
    private var parser = RequestParser()
    private var current: Current?
    private var answer: Task<Void, Never>?
    private var fault: Task<Void, Never>?
    /// Whether what comes is dropped, because nobody will ever read it.
    private var isDeaf = false
    /// Goes on after the fault that is under way.
    private var afterFault: ((ChannelHandlerContext) -> Void)?
    /// Whether nothing more that comes in matters.
    private var isOver = false

    init(connection: Int, recorder: Recorder, handler: @escaping TestServer.Handler, options: TestServer.Options) {
      self.connection = connection
      self.recorder = recorder
      self.handler = handler
      self.answersAt = options.answersAt
      self.faults = options.faults
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isOver, !isDeaf else { return }
      parser.append(unwrapInboundIn(data).readableBytesView)
      advance(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
      isOver = true
      answer?.cancel()
      fault?.cancel()
      // It holds this handler, which holds it.
      afterFault = nil
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if !Self.isLeaving(error) { recorder.failed(error, connection: connection) }
      context.close(promise: nil)
    }

    /// A client may leave at any time and in any way, and does where it does not trust the server.
    private static func isLeaving(_ error: any Error) -> Bool {
      switch error as? NIOSSLError {
      case .uncleanShutdown, .handshakeFailed: true
      default: error is IOError || error is ChannelError
      }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      switch event {
      case let event as AnswerEnded: ended(event, context)
      case let event as FaultEnded: ended(event, context)
      default: context.fireUserInboundEventTriggered(event)
      }
    }

    private func ended(_ ended: AnswerEnded, _ context: ChannelHandlerContext) {
      answer = nil
      guard !isOver, let current else { return }
      if (try? context.pipeline.syncOperations.handler(type: Truncation.self)) != nil {
        // Less was sent than would have been cut off.
        isOver = true
        context.channel.closeSocket().whenComplete { _ in }
      } else if !ended.connectionPersists {
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
        while !isOver, afterFault == nil, current?.isReceived != true, let event = try parser.next() {
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
        guard let fault = current?.contentFault, let request = recorder.request(of: exchange),
          request.contentLength >= fault.length
        else { return }
        current?.contentFault = nil
        suffer(fault.effect, at: .requestContent(after: fault.length), context) { _ in }
      case .end(let trailers):
        guard let fault = current?.contentFault else { return complete(exchange, trailers, context) }
        current?.contentFault = nil
        suffer(fault.effect, at: .requestContent(after: fault.length), context) {
          self.complete(exchange, trailers, $0)
        }
      }
    }

    private func begin(_ head: RequestParser.Head, _ context: ChannelHandlerContext) {
      guard let exchange = recorder.began(head, connection: connection) else {
        isOver = true
        return
      }
      current = Current(exchange: exchange)
      guard !faults.isEmpty, let request = recorder.request(of: exchange) else {
        return proceed(with: exchange, head, context)
      }
      let late = faults.first(on: request) { if case .requestContent = $0 { true } else { false } }
      if let late, case .requestContent(let length) = late.trigger { current?.contentFault = (late.effect, length) }
      guard let early = faults.first(on: request, where: { $0 == .requestHead }) else {
        return proceed(with: exchange, head, context)
      }
      suffer(early.effect, at: .requestHead, context) { self.proceed(with: exchange, head, $0) }
    }

    /// A head is there, and nothing has gone wrong with it.
    private func proceed(with exchange: Int, _ head: RequestParser.Head, _ context: ChannelHandlerContext) {
      switch answersAt {
      case .head:
        startAnswer(exchange, context.channel)
      case .end:
        guard head.fields.contains("100-continue", in: "Expect") else { return }
        context.writeAndFlush(NIOAny(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
      }
    }

    /// A request is there completely.
    private func complete(_ exchange: Int, _ trailers: FieldLines, _ context: ChannelHandlerContext) {
      recorder.completed(exchange, trailers: trailers)
      if current?.isAnswered == true {
        current = nil
      } else {
        current?.isReceived = true
        if answersAt == .end { startAnswer(exchange, context.channel) }
      }
    }

    // MARK: Faults

    /// Lets a fault happen, with nothing read meanwhile, and goes on after it.
    private func suffer(
      _ effect: Fault.Effect, at trigger: Fault.Trigger, _ context: ChannelHandlerContext,
      then goOn: @escaping (ChannelHandlerContext) -> Void
    ) {
      afterFault = goOn
      isDeaf = effect.isEndless
      let channel = context.channel
      fault = Task { [connection, recorder] in
        if !effect.isEndless { try? await channel.setOption(.autoRead, value: false).get() }
        var wire = Wire(channel, connection: connection, recorder: recorder)
        let persists = await wire.take(effect.steps(at: trigger))
        channel.pipeline.fireUserInboundEventTriggered(FaultEnded(connectionPersists: persists))
      }
    }

    private func ended(_ ended: FaultEnded, _ context: ChannelHandlerContext) {
      guard !isOver, let goOn = afterFault else { return }
      (fault, afterFault) = (nil, nil)
      guard ended.connectionPersists else {
        isOver = true
        return context.close(promise: nil)
      }
      goOn(context)
      advance(context)
      context.channel.setOption(.autoRead, value: true).whenComplete { _ in }
    }

    private func startAnswer(_ exchange: Int, _ channel: any Channel) {
      guard let request = recorder.request(of: exchange) else { return }
      answer = Task { [recorder, handler, faults] in
        let reply = await handler(request).suffering(faults, of: request)
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
