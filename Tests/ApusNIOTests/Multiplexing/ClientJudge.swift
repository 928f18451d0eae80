import HTTPTypes
import NIOCore

@testable import ApusNIO

/// A judge of a client's frames (RFC 9113). A value type without channel.
///
/// The judge also reads the server's frames, because these frames decide what the client may send. A change that the
/// client must have noticed binds the client; before, the more permissive of the old and the new state applies. The
/// client has noticed settings that it has acknowledged, and all frames before a PING that it has acknowledged.
struct ClientJudge: Sendable {
  /// A frame that the server should respond to.
  enum Demand: Sendable, Equatable {
    case acknowledgeSettings
    case acknowledgePing([UInt8])
    /// DATA of this length has arrived on a stream.
    case credit(StreamID, Int, isLast: Bool)
    case respond(StreamID)
    /// The head of an HTTP/1.1 request is complete.
    case respondHTTP1
  }

  struct Stream: Sendable {
    /// The number of bytes that the client may send, and that the server may send.
    var sendWindow = 0
    var receiveWindow = 0
    var contentLength: Int?
    var count = 0
    var isEndedByClient = false
    var isResetByClient = false
    var isEndedByServer = false
    var isResetByServer = false
    /// Whether the client has noticed that the server reset the stream.
    var isKnownReset = false

    var isOpen: Bool { !isResetByClient && !isResetByServer && !(isEndedByClient && isEndedByServer) }
  }

  /// The state of the server when it sent a PING.
  struct Fence: Sendable {
    let data: [UInt8]
    let resets: [StreamID]
    let hasGoneAway: Bool
  }

  static let magic = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  var received = Received()
  var streams: [StreamID: Stream] = [:]
  /// The server's settings that the client has acknowledged, and the later ones in order.
  var acknowledged = PeerSettings()
  var unacknowledged: [PeerSettings] = []
  /// The client's windows of the connection: for sending and for receiving.
  var (sendWindow, receiveWindow) = (65_535, 65_535)
  /// The client's initial window of a stream.
  var initialReceiveWindow = 65_535
  var fences: [Fence] = []
  /// Whether the server has sent SETTINGS.
  var hasServerSettings = false
  var hasGoneAway = false
  /// The last stream of the server's GOAWAY frames.
  var lastStream = StreamID.max
  /// Whether the client has noticed no GOAWAY frame.
  var mayOpenStreams = true

  /// The frames of the server for streams whose requests have not arrived: the sums of WINDOW_UPDATE frames, and the
  /// streams that the server refuses. The client may have sent the requests before.
  private var earlyWindows: [StreamID: Int] = [:]
  private var earlyRefusals: Set<StreamID> = []
  private var buffer = ByteBuffer()
  private var sent = ByteBuffer()
  private var hasSettings = false
  private var block: (stream: StreamID, bytes: [UInt8], isLast: Bool)?
  private var decoder = FieldDecoder()
  /// The table size with which the next field block must begin, because the server has lowered the maximum.
  private var awaitedTableSize: Int?

  // MARK: The client's bytes

  /// Reads bytes of the client. Returns the frames that the server should respond to.
  mutating func read(_ bytes: ByteBuffer) -> [Demand] {
    buffer.writeImmutableBuffer(bytes)
    if !received.hasPreface {
      guard readPreface() else { return readHTTP1() }
    }
    var demands: [Demand] = []
    while let (header, payload) = Self.nextFrame(&buffer) {
      if let demand = read(header, payload) { demands.append(demand) }
    }
    return demands
  }

  private mutating func readPreface() -> Bool {
    guard buffer.readableBytes >= Self.magic.count else { return false }
    guard buffer.readableBytesView.starts(with: Self.magic) else { return false }
    buffer.moveReaderIndex(forwardBy: Self.magic.count)
    received.hasPreface = true
    return true
  }

  private mutating func readHTTP1() -> [Demand] {
    let view = buffer.readableBytesView
    guard !Self.magic.starts(with: view.prefix(Self.magic.count)) else { return [] }
    let text = String(buffer: buffer)
    guard text.hasSuffix("\r\n\r\n") else { return [] }
    received.http1Heads.append(text)
    buffer.clear()
    return [.respondHTTP1]
  }

  private static func nextFrame(_ buffer: inout ByteBuffer) -> (FrameHeader, [UInt8])? {
    var rest = buffer
    guard let header = FrameHeader(from: &rest), let payload = rest.readBytes(length: header.length) else { return nil }
    buffer = rest
    buffer.discardReadBytes()
    return (header, payload)
  }

  mutating func check(_ isRight: Bool, _ rule: String) {
    if !isRight { received.violations.append(rule) }
  }

  private mutating func read(_ header: FrameHeader, _ payload: [UInt8]) -> Demand? {
    if !hasSettings {
      check(header.type == .settings && !header.flags.contains(.acknowledgement), "the first frame is \(header.type)")
      hasSettings = true
    }
    if let block {
      check(header.type == .continuation && header.stream == block.stream, "\(header.type) interrupts a field block")
    }
    let limit = (unacknowledged + [acknowledged]).map(\.maximumFrameSize).max() ?? 0
    check(header.length <= limit, "\(header.type) has \(header.length) bytes")
    checkStream(header)
    switch header.type {
    case .data: return readData(header, payload)
    case .headers: return readHeaders(header, payload)
    case .continuation: return readContinuation(header, payload)
    case .settings: return readSettings(header, payload)
    case .ping: return readPing(header, payload)
    case .reset: readReset(header, payload)
    case .windowUpdate: readWindowUpdate(header, payload)
    case .goAway:
      check(payload.count >= 8, "GOAWAY has \(payload.count) bytes")
      received.goAways.append(HTTP2ErrorCode(rawValue: Self.integer(payload.dropFirst(4))))
    case .priority: check(payload.count == 5, "PRIORITY has \(payload.count) bytes")
    default: check(false, "the client sends \(header.type)")
    }
    return nil
  }

  /// Checks that the state of a stream permits a frame (RFC 9113 §5.1).
  private mutating func checkStream(_ header: FrameHeader) {
    let type = header.type
    switch type {
    case .settings, .ping, .goAway: return check(header.stream == 0, "\(type) has the stream \(header.stream)")
    case .windowUpdate where header.stream == 0: return
    case .priority: return check(header.stream != 0, "PRIORITY has the stream 0")
    default: check(!header.stream.isMultiple(of: 2), "\(type) has the stream \(header.stream)")
    }
    guard let stream = streams[header.stream] else {
      return check(type == .headers, "\(type) on the idle stream \(header.stream)")
    }
    check(!stream.isResetByClient, "\(type) on stream \(header.stream), which the client has reset")
    check(!stream.isKnownReset, "\(type) on stream \(header.stream), which the server has reset")
    if type == .data || type == .headers || type == .continuation && block == nil {
      check(!stream.isEndedByClient, "\(type) on stream \(header.stream), which the client has ended")
    }
  }

  static func integer(_ bytes: some Collection<UInt8>) -> UInt32 {
    bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}

// MARK: - Requests

extension ClientJudge {
  private mutating func readHeaders(_ header: FrameHeader, _ payload: [UInt8]) -> Demand? {
    var block = payload[...]
    if header.flags.contains(.padded) { block = block.dropFirst().dropLast(Int(payload.first ?? 0)) }
    if header.flags.contains(.priority) { block = block.dropFirst(5) }
    self.block = (header.stream, Array(block), header.flags.contains(.endStream))
    return header.flags.contains(.endHeaders) ? readBlock() : nil
  }

  private mutating func readContinuation(_ header: FrameHeader, _ payload: [UInt8]) -> Demand? {
    check(block != nil, "CONTINUATION follows no field block")
    block?.bytes += payload
    return header.flags.contains(.endHeaders) ? readBlock() : nil
  }

  private mutating func readBlock() -> Demand? {
    guard let block else { return nil }
    self.block = nil
    if let size = awaitedTableSize, let first = block.bytes.first {
      check(first & 0xE0 == 0x20, "a field block does not begin with the table size \(size) or less")
      awaitedTableSize = nil
    }
    var fields = RequestFields()
    do {
      try block.bytes.withUnsafeBytes { try decoder.decode($0, into: &fields) }
    } catch {
      check(false, "\(error)")
    }
    received.violations += fields.violations
    if streams[block.stream] == nil {
      open(block.stream, fields)
    } else {
      check(block.isLast, "trailers without END_STREAM")
      check(fields.pseudo.isEmpty, "trailers have pseudo-header fields")
    }
    return block.isLast ? end(block.stream) : nil
  }

  private mutating func open(_ id: StreamID, _ fields: RequestFields) {
    check(
      id > received.requests.last?.stream ?? 0, "stream \(id) follows stream \(received.requests.last?.stream ?? 0)")
    check(mayOpenStreams, "stream \(id) is opened after GOAWAY")
    let limits = (unacknowledged + [acknowledged]).map { $0.maximumStreams ?? .max }
    let openCount = streams.values.count(where: \.isOpen)
    check(openCount < Int(limits.max() ?? .max), "stream \(id) exceeds the maximum of concurrent streams")
    let names = fields.pseudo.keys.sorted()
    check(names == [":authority", ":method", ":path", ":scheme"], "a request has the pseudo-header fields \(names)")
    let window = acknowledged.initialWindowSize + (earlyWindows[id] ?? 0)
    var stream = Stream(sendWindow: window, receiveWindow: initialReceiveWindow)
    stream.contentLength = fields.contentLength
    streams[id] = stream
    received.requests.append(
      Received.Request(
        stream: id, method: fields.pseudo[":method"] ?? "", path: fields.pseudo[":path"] ?? "", lines: fields.lines,
        isRefused: id > lastStream || earlyRefusals.contains(id)))
  }

  private mutating func end(_ id: StreamID) -> Demand? {
    streams[id]?.isEndedByClient = true
    if let length = streams[id]?.contentLength {
      check(streams[id]?.count == length, "the content of stream \(id) differs from its length")
    }
    update(id) { $0.isComplete = true }
    return .respond(id)
  }

  private mutating func update(_ id: StreamID, _ change: (inout Received.Request) -> Void) {
    guard let index = received.requests.firstIndex(where: { $0.stream == id }) else { return }
    change(&received.requests[index])
  }

  private mutating func readData(_ header: FrameHeader, _ payload: [UInt8]) -> Demand? {
    let (id, isLast) = (header.stream, header.flags.contains(.endStream))
    let permitted = unacknowledged.map { $0.initialWindowSize - acknowledged.initialWindowSize }.max() ?? 0
    let window = streams[id].map { $0.sendWindow + max(0, permitted) } ?? .max
    check(payload.isEmpty || payload.count <= window, "DATA of \(payload.count) bytes exceeds stream \(id)'s window")
    check(payload.count <= sendWindow, "DATA of \(payload.count) bytes exceeds the connection's window")
    sendWindow -= payload.count
    streams[id]?.sendWindow -= payload.count
    let padding = header.flags.contains(.padded) ? Int(payload.first ?? 0) + 1 : 0
    streams[id]?.count += payload.count - padding
    update(id) { $0.contentCount += payload.count - padding }
    guard isLast else { return payload.isEmpty ? nil : .credit(id, payload.count, isLast: false) }
    // The demand to respond to the request includes the credit for its last frame.
    _ = end(id)
    return .credit(id, payload.count, isLast: true)
  }
}

// MARK: - The connection

extension ClientJudge {
  private mutating func readSettings(_ header: FrameHeader, _ payload: [UInt8]) -> Demand? {
    guard header.flags.contains(.acknowledgement) else {
      check(payload.count.isMultiple(of: 6), "SETTINGS has \(payload.count) bytes")
      takeSettings(payload)
      return .acknowledgeSettings
    }
    check(payload.isEmpty, "the acknowledgment of SETTINGS has content")
    check(!unacknowledged.isEmpty, "SETTINGS is acknowledged too often")
    guard !unacknowledged.isEmpty else { return nil }
    let settings = unacknowledged.removeFirst()
    received.settingsAcknowledged += 1
    for id in streams.keys {
      streams[id]?.sendWindow += settings.initialWindowSize - acknowledged.initialWindowSize
    }
    if settings.headerTableSize < acknowledged.headerTableSize, settings.headerTableSize < 4096 {
      awaitedTableSize = Int(settings.headerTableSize)
    }
    acknowledged = settings
    return nil
  }

  private mutating func takeSettings(_ payload: [UInt8]) {
    var buffer = ByteBuffer(bytes: payload)
    for setting in Setting.list(from: &buffer) {
      switch setting.identifier {
      case .enablePush: check(setting.value == 0, "the client enables pushes")
      case .initialWindowSize:
        check(setting.value < 1 << 31, "the client's initial window is too large")
        initialReceiveWindow = Int(setting.value)
      case .maximumFrameSize: check((1 << 14..<1 << 24).contains(setting.value), "the client's frame size is invalid")
      default: break
      }
    }
  }

  private mutating func readPing(_ header: FrameHeader, _ payload: [UInt8]) -> Demand? {
    check(payload.count == 8, "PING has \(payload.count) bytes")
    guard header.flags.contains(.acknowledgement) else { return .acknowledgePing(payload) }
    check(fences.first?.data == payload, "PING is acknowledged with other bytes")
    guard !fences.isEmpty else { return nil }
    let fence = fences.removeFirst()
    received.pingsAcknowledged += 1
    for id in fence.resets { streams[id]?.isKnownReset = true }
    if fence.hasGoneAway { mayOpenStreams = false }
    return nil
  }

  private mutating func readReset(_ header: FrameHeader, _ payload: [UInt8]) {
    check(payload.count == 4, "RST_STREAM has \(payload.count) bytes")
    streams[header.stream]?.isResetByClient = true
    received.resets.append(
      Received.Reset(stream: header.stream, code: HTTP2ErrorCode(rawValue: Self.integer(payload))))
  }

  private mutating func readWindowUpdate(_ header: FrameHeader, _ payload: [UInt8]) {
    check(payload.count == 4, "WINDOW_UPDATE has \(payload.count) bytes")
    let increment = Int(Self.integer(payload))
    check(increment > 0, "WINDOW_UPDATE has the increment 0")
    if header.stream == 0 { receiveWindow += increment } else { streams[header.stream]?.receiveWindow += increment }
    check(receiveWindow < 1 << 31, "the client's connection window overflows")
    check(streams[header.stream]?.receiveWindow ?? 0 < 1 << 31, "the client's window of a stream overflows")
  }
}

// MARK: - The server's bytes

extension ClientJudge {
  /// Reads bytes that the server sends, as far as they are frames.
  mutating func sends(_ bytes: [UInt8]) {
    sent.writeBytes(bytes)
    while let (header, payload) = Self.nextFrame(&sent) { sends(header, payload) }
  }

  private mutating func sends(_ header: FrameHeader, _ payload: [UInt8]) {
    let id = header.stream
    switch header.type {
    case .settings where !header.flags.contains(.acknowledgement):
      var (settings, buffer) = (unacknowledged.last ?? acknowledged, ByteBuffer(bytes: payload))
      try? settings.take(Setting.list(from: &buffer))
      unacknowledged.append(settings)
      hasServerSettings = true
    case .ping where !header.flags.contains(.acknowledgement):
      let resets = streams.filter(\.value.isResetByServer).map(\.key)
      fences.append(Fence(data: payload, resets: resets, hasGoneAway: hasGoneAway))
    case .windowUpdate:
      let increment = Int(Self.integer(payload) & 0x7FFF_FFFF)
      if id == 0 {
        sendWindow += increment
      } else if streams[id] == nil {
        earlyWindows[id, default: 0] += increment
      } else {
        streams[id]?.sendWindow += increment
      }
    case .data:
      receiveWindow -= payload.count
      streams[id]?.receiveWindow -= payload.count
      if header.flags.contains(.endStream) { answer(id) }
    case .headers:
      if header.flags.contains(.endStream) { answer(id) }
      if payload.starts(with: literal(":status", "421")) { refuse(id) }
    case .reset:
      streams[id]?.isResetByServer = true
      if HTTP2ErrorCode(rawValue: Self.integer(payload)) == .refusedStream { refuse(id) }
    case .goAway: goAway(last: Self.integer(payload) & 0x7FFF_FFFF)
    default: break
    }
  }

  private mutating func answer(_ id: StreamID) {
    streams[id]?.isEndedByServer = true
    update(id) { $0.isAnswered = true }
  }

  private mutating func refuse(_ id: StreamID) {
    if streams[id] == nil { earlyRefusals.insert(id) }
    update(id) { $0.isRefused = true }
  }

  private mutating func goAway(last: StreamID) {
    hasGoneAway = true
    for request in received.requests where request.stream > last { update(request.stream) { $0.isRefused = true } }
    lastStream = min(lastStream, last)
  }
}

/// The fields of a request, and the rules that they break (RFC 9113 §8.2, §8.3).
private struct RequestFields: FieldReceiver {
  var pseudo: [String: String] = [:]
  var lines: [String] = []
  var contentLength: Int?
  var violations: [String] = []

  mutating func take(_ field: HTTPField, _ facts: FieldFacts) {
    let name = field.name.rawName
    if let rule = facts.broken { violations.append("the field \(name) breaks the rule \(rule)") }
    guard name.hasPrefix(":") else {
      if facts.role == .contentLength { contentLength = Int(field.value) }
      return lines.append("\(name): \(field.value)")
    }
    if !lines.isEmpty { violations.append("\(name) follows a field") }
    if pseudo.updateValue(field.value, forKey: name) != nil { violations.append("\(name) occurs twice") }
  }
}
