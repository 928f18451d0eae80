import NIOCore
import NIOSSL

/// The handler of a connection: records requests and replies to them one at a time.
///
/// The handler continues to read while it replies, so that a disconnect is detected immediately. Bytes of the next
/// request remain in the parser until the response is complete, and while a fault of the request is in effect.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// The settings of a server for its connections.
  struct Behavior: Sendable {
    let reply: @Sendable (RecordedRequest) async -> Reply
    /// Whether the reply to a request is requested when the head has arrived; `nil`: always after the whole request.
    let repliesToHead: (@Sendable (RecordedRequest) -> Bool)?
    /// Whether reading stops after the head of such a request until a step of the reply resumes reading; `nil`: never.
    let stopsReadingAtHead: (@Sendable (RecordedRequest) -> Bool)?
    let faults: [Fault]
    /// The TLS context; `nil` without TLS.
    let tls: NIOSSLContext?
  }

  /// The event that a reply was sent. The connection is closed unless `connectionPersists`.
  private struct ReplyEnded: Sendable {
    var connectionPersists: Bool
  }

  /// The event that a fault of the request is over. The connection is closed unless `connectionPersists`.
  private struct FaultEnded: Sendable {
    var connectionPersists: Bool
  }

  private struct Current {
    var exchange: Int
    /// Whether the reply is requested before the content has arrived.
    var repliesToHead = false
    var isReceived = false
    var hasReplied = false
    /// The fault that takes effect after `length` bytes of the content.
    var contentFault: (effect: Fault.Effect, length: Int)?
    /// The number of received content bytes, up to the fault.
    var received = 0

    /// The maximum number of content bytes to consume in one step, because bytes beyond the fault may have arrived
    /// already.
    var most: Int { contentFault.map { max(1, $0.length - received) } ?? .max }
  }

  private let connection: Int
  private let recorder: Recorder
  private let behavior: Behavior
  private var parser = RequestParser()
  private var current: Current?
  private var reply: Task<Void, Never>?
  private var fault: Task<Void, Never>?
  /// Whether incoming bytes are discarded because an endless fault is in effect.
  private var dropsInput = false
  /// Continues after the fault that is in effect.
  private var afterFault: ((ChannelHandlerContext) -> Void)?
  /// Whether the connection is about to be closed and input no longer matters.
  private var isOver = false

  init(connection: Int, recorder: Recorder, behavior: Behavior) {
    self.connection = connection
    self.recorder = recorder
    self.behavior = behavior
  }

  /// Adds the handlers of a new connection to its channel.
  static func setUp(
    _ channel: any Channel, connection: Int, recorder: Recorder, behavior: Behavior
  ) throws {
    let addHandlers: @Sendable (any Channel) throws -> Void = { channel in
      if let tls = behavior.tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
      try channel.pipeline.syncOperations.addHandler(
        ConnectionHandler(connection: connection, recorder: recorder, behavior: behavior))
    }
    guard let effect = behavior.faults.effect(onConnection: connection) else { return try addHandlers(channel) }
    try channel.syncOptions?.setOption(.autoRead, value: effect.isEndless)
    try channel.pipeline.syncOperations.addHandler(
      ConnectFault(effect, connection: connection, recorder: recorder, setUp: addHandlers))
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver, !dropsInput else { return }
    parser.append(unwrapInboundIn(data).readableBytesView)
    advance(context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    isOver = true
    reply?.cancel()
    fault?.cancel()
    // Breaks the reference cycle with this handler.
    afterFault = nil
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if !Self.isDisconnect(error) { recorder.failed(error, connection: connection) }
    context.close(promise: nil)
  }

  /// Whether an error is the client's disconnect, which may happen at any time: a client that does not trust the
  /// server's certificate fails the handshake.
  private static func isDisconnect(_ error: any Error) -> Bool {
    switch error as? NIOSSLError {
    case .uncleanShutdown, .handshakeFailed: true
    default: error is IOError || error is ChannelError
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let event as ReplyEnded: ended(event, context)
    case let event as FaultEnded: ended(event, context)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  private func ended(_ ended: ReplyEnded, _ context: ChannelHandlerContext) {
    reply = nil
    guard !isOver, let current else { return }
    if (try? context.pipeline.syncOperations.handler(type: Truncation.self)) != nil {
      // The response is shorter than the truncation's length, and the connection is cut after it.
      isOver = true
      context.channel.closeSocket().whenComplete { _ in }
    } else if !ended.connectionPersists {
      isOver = true
      // While content is arriving, closing both sides would reset the connection, and the client could lose the
      // response.
      context.close(mode: current.isReceived ? .all : .output, promise: nil)
    } else if current.isReceived {
      self.current = nil
      advance(context)
    } else {
      self.current?.hasReplied = true
    }
  }

  /// Handles the parser's events, up to the end of the current request.
  private func advance(_ context: ChannelHandlerContext) {
    do {
      while !isOver, afterFault == nil, current?.isReceived != true,
        let event = try parser.next(contentAtMost: current?.most ?? .max)
      {
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
      current?.received += content.count
      guard let current, let fault = current.contentFault, current.received >= fault.length else { return }
      self.current?.contentFault = nil
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
    guard !behavior.faults.isEmpty, let request = recorder.request(of: exchange) else {
      return proceed(with: exchange, head, context)
    }
    let late = behavior.faults.first(on: request) { if case .requestContent = $0 { true } else { false } }
    if let late, case .requestContent(let length) = late.trigger { current?.contentFault = (late.effect, length) }
    guard let early = behavior.faults.first(on: request, where: { $0 == .requestHead }) else {
      return proceed(with: exchange, head, context)
    }
    suffer(early.effect, at: .requestHead, context) { self.proceed(with: exchange, head, $0) }
  }

  /// Continues after a head and its fault.
  private func proceed(with exchange: Int, _ head: RequestParser.Head, _ context: ChannelHandlerContext) {
    if let repliesToHead = behavior.repliesToHead, let request = recorder.request(of: exchange), repliesToHead(request)
    {
      current?.repliesToHead = true
      if let stopsReadingAtHead = behavior.stopsReadingAtHead, stopsReadingAtHead(request) {
        // Reading stops here, not at the start of the reply, because much of the content may have been read by then.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
      }
      startReply(to: exchange, context.channel)
    } else if head.fields.contains("100-continue", in: "Expect") {
      context.writeAndFlush(NIOAny(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
    }
  }

  /// Handles the end of a request.
  private func complete(_ exchange: Int, _ trailers: FieldLines, _ context: ChannelHandlerContext) {
    recorder.completed(exchange, trailers: trailers)
    if current?.hasReplied == true {
      current = nil
    } else {
      let hasReply = current?.repliesToHead == true
      current?.isReceived = true
      if !hasReply { startReply(to: exchange, context.channel) }
    }
  }

  // MARK: Faults

  /// Performs a fault without reading, and then continues.
  private func suffer(
    _ effect: Fault.Effect, at trigger: Fault.Trigger, _ context: ChannelHandlerContext,
    then proceed: @escaping (ChannelHandlerContext) -> Void
  ) {
    afterFault = proceed
    dropsInput = effect.isEndless
    let channel = context.channel
    fault = Task { [connection, recorder] in
      if !effect.isEndless { try? await channel.setOption(.autoRead, value: false).get() }
      var driver = ConnectionDriver(channel, connection: connection, recorder: recorder)
      let persists = await driver.perform(effect.steps(at: trigger))
      channel.pipeline.fireUserInboundEventTriggered(FaultEnded(connectionPersists: persists))
    }
  }

  private func ended(_ ended: FaultEnded, _ context: ChannelHandlerContext) {
    guard !isOver, let proceed = afterFault else { return }
    (fault, afterFault) = (nil, nil)
    guard ended.connectionPersists else {
      isOver = true
      return context.close(promise: nil)
    }
    proceed(context)
    advance(context)
    context.channel.setOption(.autoRead, value: true).whenComplete { _ in }
  }

  // MARK: Responses

  private func startReply(to exchange: Int, _ channel: any Channel) {
    guard let request = recorder.request(of: exchange) else { return }
    reply = Task { [recorder, behavior] in
      let reply = await behavior.reply(request).suffering(behavior.faults, of: request)
      var writer = ResponseWriter(to: request, on: channel, recorder: recorder)
      let connectionPersists = await writer.send(reply)
      channel.pipeline.fireUserInboundEventTriggered(ReplyEnded(connectionPersists: connectionPersists))
    }
  }

  private func reject(_ malformed: RequestParser.Malformed, _ context: ChannelHandlerContext) {
    isOver = true
    reply?.cancel()
    if let current, !current.hasReplied { recorder.finish(current.exchange, .malformed) }
    recorder.rejected(malformed.reason, connection: connection)
    let head =
      "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: \(malformed.reason.utf8.count)\r\n\r\n"
    context.writeAndFlush(NIOAny(ByteBuffer(string: head + malformed.reason)), promise: nil)
    context.close(mode: .output, promise: nil)
  }
}
