import ApusCore
import HTTPTypes
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The reception of one response, regardless of the protocol: decodes content codings, and collects the content or
/// delivers it to its reader.
///
/// A class, because delivering content can run code that ends the exchange and thereby calls ``reset()``.
final class Reception {
  /// A fault of the response, or content that exceeds a limit.
  struct Fault: Error {
    let code: CallError.Code
    let detail: String
    let underlying: CodingError?
  }

  /// A response whose end has arrived.
  struct Complete {
    let head: HTTPResponse
    let content: ContentChannel?
    let collected: Data
    let trailers: HTTPFields
    fileprivate let source: Source
    /// Whether the content was decoded.
    fileprivate let isDecoded: Bool

    /// The message of collected content.
    var message: ResponseMessage {
      var content = ResponseContent(collected: collected, trailers: trailers)
      content.isDecoded = isDecoded
      return source.message(head, content)
    }
  }

  /// The connection's facts that every response contains.
  struct Source {
    let version: HTTPVersion
    /// The number of streams that the server accepts at a time, for versions that have streams.
    var maximumStreams = UInt32.max

    fileprivate func message(_ head: HTTPResponse, _ content: ResponseContent) -> ResponseMessage {
      var message = ResponseMessage(head: head, content: content)
      (message.protocolVersion, message.maximumConcurrentStreams) = (version, maximumStreams)
      return message
    }
  }

  var source: Source

  /// The head of the final response, as delivered to the caller.
  private(set) var head: HTTPResponse?
  /// The channel to the reader of streamed content; `nil` if the content is collected.
  private(set) var content: ContentChannel?
  /// Collected content.
  private var collected = Data()
  /// The trailer fields of a complete response; `nil` before its end.
  private var trailers: HTTPFields?
  /// The decoder of the content's codings; `nil` if there are none.
  private var coding: ContentDecoder?
  /// Content that is not decoded yet.
  private var coded = ByteBuffer()
  /// The maximum number of bytes to collect.
  private var limit = Int.max
  private let codingLimits: CodingLimits

  init(_ source: Source, _ codingLimits: CodingLimits) {
    self.source = source
    self.codingLimits = codingLimits
  }

  /// The response; `nil` before its end.
  var complete: Complete? {
    guard let head, let trailers else { return nil }
    return Complete(
      head: head, content: content, collected: collected, trailers: trailers, source: source, isDecoded: coding != nil)
  }

  /// Returns the error of an exchange whose content was not sent completely although the server responded with success.
  /// `nil` before the head.
  ///
  /// - Parameter reason: the reason why no more content is sent; `nil` if the server never requested the content.
  func incompleteRequest(sent: Int64, of expected: Int64?, _ reason: String?) -> TransportError? {
    guard let head else { return nil }
    let content = ResponseContent(Data(collected.prefix(CallError.contentLimit)))
    return .incompleteRequest(source.message(head, content), sent: sent, of: expected, reason)
  }

  /// Discards the response, for the next exchange.
  func reset() {
    (head, content, trailers, coding) = (nil, nil, nil, nil)
    collected = Data()
    coded = ByteBuffer()
    limit = .max
  }

  // MARK: Head

  /// Prepares the decoding of content. Changes head and length to describe the content as delivered to the caller.
  ///
  /// - Parameter length: the length of the content; `nil` if it is unknown.
  func prepareDecoding(_ head: inout HTTPResponse, _ length: inout Int64?, of exchange: Exchange) throws(Fault) {
    guard exchange.request.decodesContent, length != 0, head.headerFields.contains(.contentEncoding) else { return }
    // The content of a redirect that is followed is not read, so its codings do not matter.
    if exchange.context.followsRedirect(head) { return }
    do {
      coding = try ContentDecoder.decoder(for: head.headerFields, limits: codingLimits)
    } catch {
      throw Fault(error)
    }
    guard coding != nil else { return }
    head.headerFields[.contentEncoding] = nil
    head.headerFields[.contentLength] = nil
    length = nil
  }

  /// Begins to collect the content, or delivers the head to the caller and begins to deliver the content to a reader.
  ///
  /// - Parameters:
  ///   - length: the length of the content; `nil` if it is unknown.
  ///   - makeChannel: makes the channel to the reader; `nil` if the connection has closed.
  func begin(
    _ head: HTTPResponse, _ length: Int64?, of exchange: Exchange, _ makeChannel: () -> ContentChannel?
  ) throws(Fault) {
    self.head = head
    guard exchange.context.collectsContent(of: head) else {
      guard let channel = makeChannel() else { return }
      content = channel
      var response = source.message(head, ResponseContent(source: channel, expectedLength: length))
      response.content.isDecoded = coding != nil
      return exchange.deliverHead(response)
    }
    exchange.context.reportHead(head)
    limit = exchange.context.contentLimit
    guard let length else { return }
    if length > Int64(limit) { throw Fault(tooLargeFor: limit) }
    collected.reserveCapacity(min(Int(length), Self.reservedCapacity))
  }

  /// The maximum memory reserved for an announced length before the bytes arrive.
  private static let reservedCapacity = 1 << 20

  // MARK: Content

  /// Receives content. Returns whether the reader has room for more.
  func receive(_ bytes: ByteBuffer, of exchange: Exchange) throws(Fault) -> Bool {
    guard coding != nil else { return try deliver(bytes, of: exchange) }
    var bytes = bytes
    coded.take(&bytes)
    return try decode(of: exchange)
  }

  /// Decodes the coded content that has arrived, as much as the reader has room for. Returns whether the reader has
  /// room for more.
  func decode(of exchange: Exchange) throws(Fault) -> Bool {
    while let piece = try nextPiece() {
      guard try deliver(piece, of: exchange) else { return false }
    }
    return true
  }

  private func nextPiece() throws(Fault) -> ByteBuffer? {
    do { return try coding?.next(from: &coded) } catch { throw Fault(error) }
  }

  private func deliver(_ bytes: ByteBuffer, of exchange: Exchange) throws(Fault) -> Bool {
    if let content { return content.push(bytes.withUnsafeReadableBytes { Data($0) }) }
    guard collected.count + bytes.readableBytes <= limit else { throw Fault(tooLargeFor: limit) }
    exchange.context.reportReceived(bytes.readableBytes)
    bytes.withUnsafeReadableBytes { collected.append($0.bindMemory(to: UInt8.self)) }
    return true
  }

  /// Completes the response. Throws if the content ended within a content coding.
  func finish(_ trailers: HTTPFields, of exchange: Exchange) throws(Fault) {
    if let coding {
      do { try coding.finish() } catch { throw Fault(error) }
      if coding.skipped > 0 {
        exchange.context.record(.note("bytes skipped after the end of the content coding", coding.skipped))
      }
    }
    self.trailers = trailers
  }
}

extension Reception.Fault {
  fileprivate init(_ error: CodingError) {
    switch error.kind {
    case .tooLarge, .ratioTooHigh: code = .contentTooLarge
    default: code = .malformedResponse
    }
    detail = error.detail
    underlying = error
  }

  fileprivate init(tooLargeFor limit: Int) {
    (code, detail, underlying) = (.contentTooLarge, "the content exceeds \(limit) bytes", nil)
  }
}
