import Foundation
import NIOCore

@testable import ApusNIO

/// The server's end of one connection: plays a ``Script`` and judges the client's frames.
final class ScriptPlayer: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// Content that is sent within the client's windows.
  private struct Outgoing {
    let stream: StreamID
    var count: Int
    let piece: Int
    let padding: Int?
    let ends: Bool
  }

  private let script: Script
  private let publish: @Sendable (Received) -> Void
  private var steps: ArraySlice<Step>
  private var judge = ClientJudge()
  private var outgoing: [Outgoing] = []
  private var demands: [ClientJudge.Demand] = []
  /// Whether steps are being played. A failed write can close the connection, and thereby call ``play(_:)`` again.
  private var isPlaying = false
  /// Whether a step is in progress that continues when its bytes are written.
  private var isBusy = false

  init(_ script: Script, publish: @escaping @Sendable (Received) -> Void) {
    (self.script, self.publish) = (script, publish)
    steps = script.steps[...]
  }

  func channelActive(context: ChannelHandlerContext) {
    play(context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    demands += judge.read(unwrapInboundIn(data))
    play(context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    judge.received.isClosed = true
    play(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The client may reset the connection, or refuse the server's certificate.
    context.close(promise: nil)
  }

  // MARK: Steps

  /// Plays steps until one must wait.
  private func play(_ context: ChannelHandlerContext) {
    guard !isPlaying else { return }
    isPlaying = true
    defer { isPlaying = false }
    meetDemands(context)
    sendContent(context)
    while !isBusy, let step = steps.first {
      if case .await(let event) = step, !judge.received.has(event) { break }
      steps.removeFirst()
      perform(step, context)
      meetDemands(context)
      sendContent(context)
    }
    judge.received.hasPlayed = steps.isEmpty && !isBusy
    judge.received.unanswered = judge.unacknowledged.count + judge.fences.count
    publish(judge.received)
  }

  private func perform(_ step: Step, _ context: ChannelHandlerContext) {
    switch step {
    case .send(let bytes): send(bytes, context)
    case .sendBytewise(let bytes): write(AnyIterator(bytes.lazy.map { [$0] }.makeIterator()), context)
    case .flood(let frame, let count):
      let size = max(1, 65_536 / frame.count)
      let chunks = stride(from: 0, to: count, by: size).lazy.map { start in
        [[UInt8]](repeating: frame, count: min(size, count - start)).flatMap { $0 }
      }
      write(AnyIterator(chunks.makeIterator()), context)
    case .sendContent(let stream, let count, let piece, let padding, let ends):
      outgoing.append(Outgoing(stream: stream, count: count, piece: piece, padding: padding, ends: ends))
    case .await: break
    case .halfClose: context.channel.close(mode: .output, promise: nil)
    case .close: context.close(promise: nil)
    case .abort:
      let channel = context.channel
      (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        .assumeIsolated().whenComplete { _ in channel.close(promise: nil) }
    }
  }

  private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
    judge.sends(bytes)
    context.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
  }

  /// Writes each chunk when the previous chunk has left. Ends early if the connection closes.
  private func write(_ chunks: AnyIterator<[UInt8]>, _ context: ChannelHandlerContext) {
    guard let chunk = chunks.next() else {
      isBusy = false
      return play(context)
    }
    isBusy = true
    judge.sends(chunk)
    let context = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.value.writeAndFlush(NIOAny(ByteBuffer(bytes: chunk))).assumeIsolated().whenComplete { result in
      if case .failure = result { return self.write(AnyIterator { nil }, context.value) }
      // The next write happens in another turn of the loop.
      context.value.eventLoop.assumeIsolated().execute { self.write(chunks, context.value) }
    }
  }

  // MARK: Content

  /// Sends as much content as the client's windows permit.
  private func sendContent(_ context: ChannelHandlerContext) {
    guard !isBusy else { return }
    for index in outgoing.indices {
      var bytes: [UInt8] = []
      while outgoing[index].count >= 0, let frame = nextFrame(of: &outgoing[index]) {
        judge.sends(frame)
        bytes += frame
      }
      guard !bytes.isEmpty else { continue }
      context.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
    }
    for content in outgoing where content.count < 0 { judge.received.contentSent.insert(content.stream) }
    outgoing.removeAll { $0.count < 0 }
  }

  /// Returns the next DATA frame, or `nil` if a window is too small. After the last frame, the count is negative.
  private func nextFrame(of content: inout Outgoing) -> [UInt8]? {
    let overhead = content.padding.map { $0 + 1 } ?? 0
    let window = min(judge.receiveWindow, judge.streams[content.stream]?.receiveWindow ?? 0)
    let size = min(content.piece, content.count, window - overhead)
    guard size > 0 || content.count == 0 && size == 0 else {
      judge.received.blocked.insert(content.stream)
      return nil
    }
    let isLast = size == content.count
    content.count = isLast ? -1 : content.count - size
    var flags: FrameFlags = isLast && content.ends ? .endStream : []
    var payload = [UInt8](repeating: 7, count: size)
    if let padding = content.padding {
      flags.insert(.padded)
      payload = padded(payload, UInt8(padding))
    }
    return frame(.data, flags, stream: content.stream, payload)
  }

  // MARK: Demands

  /// Meets the demands, unless the server is between the bytes of a frame or has not sent its settings.
  private func meetDemands(_ context: ChannelHandlerContext) {
    while !isBusy, let demand = demands.first {
      guard judge.hasServerSettings || demand == .respondHTTP1 else { return }
      demands.removeFirst()
      meet(demand, context)
    }
  }

  private func meet(_ demand: ClientJudge.Demand, _ context: ChannelHandlerContext) {
    switch demand {
    case .acknowledgeSettings:
      if script.acknowledges { send(frame(.settings, .acknowledgement), context) }
    case .acknowledgePing(let data):
      if script.acknowledges { send(frame(.ping, .acknowledgement, data), context) }
    case .credit(let stream, let count, let isLast):
      if script.credits, count > 0 {
        send(frame(.windowUpdate, bytes(UInt32(count))), context)
        if !isLast { send(frame(.windowUpdate, stream: stream, bytes(UInt32(count))), context) }
      }
      if isLast { respond(stream, context) }
    case .respond(let stream): respond(stream, context)
    case .respondHTTP1:
      guard script.protocols != ["h2"] else { return }
      let text = Self.content(of: judge.received.http1Heads.last?.split(separator: " ").dropFirst().first ?? "")
      let response = "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
      context.writeAndFlush(NIOAny(ByteBuffer(string: response)), promise: nil)
    }
  }

  /// Responds to a complete request that the script does not play.
  private func respond(_ stream: StreamID, _ context: ChannelHandlerContext) {
    guard stream > script.lastStream, let request = judge.received.request(stream) else { return }
    if request.method == "HEAD" {
      return send(frame(.headers, [.endHeaders, .endStream], stream: stream, headBlock()), context)
    }
    send(responseFrames(stream, Self.content(of: request.path)), context)
  }

  private static func content(of path: some StringProtocol) -> String { path == "/next" ? "next" : "hello" }
}
