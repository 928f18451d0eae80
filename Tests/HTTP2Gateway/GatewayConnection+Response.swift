import HTTPTypes
import NIOCore

@testable import ApusNIO

// Events of the backends.
extension GatewayConnection {
  /// Whether a backend may read more of its response.
  func mayRead(_ id: StreamID) -> Bool {
    guard let stream = streams[id] else { return false }
    return stream.content.readableBytes < 1 << 16 && context?.channel.isWritable == true
  }

  func received(_ part: DecodedPart, on id: StreamID) {
    guard let stream = streams[id] else { return }
    switch part {
    case .interim(let response): write(response, to: stream)
    case .head(let response, let framing):
      stream.hasHead = true
      if response.headerFields[.connection]?.lowercased() == "close" { leave() }
      if framing == .none || framing == .length(0) {
        stream.heldHead = response
      } else {
        write(response, to: stream)
      }
    case .content(var bytes): stream.content.writeBuffer(&bytes)
    case .end(let trailers, _): stream.ending = trailers.isEmpty ? .complete : .trailers(trailers)
    }
  }

  /// Ends a stream whose response is malformed, or whose backend was closed.
  func failed(_ error: FramingError, on id: StreamID) {
    guard let stream = streams[id] else { return }
    guard error.kind == .truncated || error.kind == .noResponse else {
      stream.ending = .malformed
      return
    }
    if stream.hasResponse {
      writer.writeReset(id, .internalError)
      end(stream, .byGateway)
    } else if stream.ending == nil || !stream.hasRequest {
      stream.ending = .reset(.internalError)
    }
  }

  /// Returns written content bytes of a request to the windows.
  func wrote(_ count: Int, on id: StreamID) {
    guard let stream = streams[id], count > 0 else { return }
    stream.unwritten -= count
    stream.returned += count
    giveBack(count)
    if stream.returned >= Self.streamWindow / 4, !stream.hasRequest {
      stream.receiveWindow += stream.returned
      writer.writeWindowUpdate(id, increment: UInt32(stream.returned))
      stream.returned = 0
    }
    flush()
  }

  /// Sends the parts of the response that a backend has read.
  func endedReading(on id: StreamID) {
    if let stream = streams[id] {
      while send(stream) {}
    }
    flush()
  }
}

// MARK: Frames of the responses

extension GatewayConnection {
  /// Sends content of all streams in turn, as far as the windows permit.
  func sendAll() {
    var order = streams.keys.sorted()
    while !order.isEmpty {
      order = order.filter { id in streams[id].map { send($0) } ?? false }
    }
  }

  /// Sends at most one DATA frame, and the end of the response. Returns whether more content can be sent.
  func send(_ stream: GatewayStream) -> Bool {
    guard !stream.hasResponse, context?.channel.isWritable == true else { return false }
    let count = min(stream.content.readableBytes, stream.sendWindow, sendWindow, writer.maximumFrameSize)
    if count > 0, var bytes = stream.content.readSlice(length: count) {
      var isLast = false
      if stream.content.readableBytes == 0, case .complete = stream.ending { isLast = true }
      writer.writeContentHeader(stream.id, count: count, isLast: isLast)
      writer.buffer.writeBuffer(&bytes)
      stream.sendWindow -= count
      sendWindow -= count
      if writer.buffer.readableBytes >= 1 << 17 { flush() }
      if isLast {
        endResponse(of: stream)
        return false
      }
    }
    guard stream.content.readableBytes == 0 else { return stream.sendWindow > 0 && sendWindow > 0 }
    stream.content.clear()
    if let ending = stream.ending { finish(stream, ending) } else { stream.backend.resume() }
    return false
  }

  /// Sends the end of a response whose content was sent.
  private func finish(_ stream: GatewayStream, _ ending: GatewayStream.Ending) {
    if let head = stream.heldHead {
      var isLast = false
      if case .complete = ending { isLast = true }
      write(head, to: stream, isLast: isLast)
      if isLast { return endResponse(of: stream) }
    }
    switch ending {
    case .complete:
      writer.writeContentHeader(stream.id, count: 0, isLast: true)
      endResponse(of: stream)
    case .trailers(let fields):
      writer.writeFields(fields, status: nil, stream.id, isLast: true)
      endResponse(of: stream)
    case .malformed:
      writer.writeFields([.server: "malformed"], status: stream.hasHead ? 200 : nil, stream.id, isLast: true)
      end(stream, .byGateway)
    case .reset(let code):
      writer.writeReset(stream.id, code)
      end(stream, .byGateway)
    }
  }

  private func endResponse(of stream: GatewayStream) {
    stream.hasResponse = true
    if stream.hasRequest { end(stream, nil) }
  }

  private func write(_ response: HTTPResponse, to stream: GatewayStream, isLast: Bool = false) {
    writer.writeFields(response.headerFields, status: response.status.code, stream.id, isLast: isLast)
  }
}
