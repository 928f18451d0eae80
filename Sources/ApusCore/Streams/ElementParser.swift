import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A parser of the elements of one response. Pure.
protocol ElementParser<Element>: Sendable {
  associatedtype Element: Sendable

  /// Adds a piece, which is not empty. Called only when ``next()`` has returned `nil`.
  mutating func feed(_ piece: Data)
  /// Ends the content. ``next()`` then returns the remaining elements.
  mutating func finish()
  /// Returns the next element, or `nil` if another piece is needed or the stream is over.
  ///
  /// - Throws: ``RejectedResponse``.
  mutating func next() throws -> Element?
  /// Whether the server has ended the stream permanently, so that no further content is read.
  var isOver: Bool { get }
  /// The position of an event stream.
  var position: StreamPosition { get }
}

extension ElementParser {
  var isOver: Bool { false }
  var position: StreamPosition { StreamPosition() }
}

/// The error for an element, or a part of an element, that exceeds its limit.
struct ElementTooLong: Error, Hashable {
  /// The element with an article, for example `a line`.
  let element: String
  /// The limit in bytes.
  let limit: Int
}

/// The part of an event stream's state that is kept from one response to the next.
struct StreamPosition: Hashable {
  var lastEventID = ""
  /// The reconnection time that the server has set, or `nil`.
  var reconnectionTime: Duration?
}

/// The response that a parser reads, and its options.
struct StreamContext: Sendable {
  let mediaType: MediaType?
  let status: Int
  let coding: CodingOptions
  let options: StreamOptions
  /// The content codings of the response. `nil` if there are none.
  private var undecoded: UndecodedCoding?

  init(_ content: Content, _ options: StreamOptions) {
    (mediaType, status, coding, self.options) = (content.mediaType, content.status, content.coding, options)
    undecoded = content.undecoded
  }

  init(_ response: ResponseMessage, coding: CodingOptions, options: StreamOptions) {
    self.init(Content(of: ResponseMessage(head: response.head), coding: coding), options)
    if status != 204 { undecoded = UndecodedCoding(response.head.headerFields) }
  }

  /// Throws if the content is in a registered content coding, because coded bytes contain no elements.
  ///
  /// - Throws: ``RejectedResponse``.
  func requireDecoded() throws {
    if let undecoded, undecoded.isRegistered { throw failure(undecoded.detail) }
  }

  var isJSONSequence: Bool {
    let essence = mediaType?.essence ?? ""
    return essence == "application/json-seq" || essence.hasSuffix("+json-seq")
  }

  /// Returns the error for a response that is not a stream of the declared kind, or for an element of it.
  func failure(
    _ detail: String, data: Data = Data(), codingPath: String? = nil, underlying: (any Error)? = nil
  ) -> RejectedResponse {
    RejectedResponse(
      code: .decoding, content: Content(data: data, mediaType: mediaType, status: status, coding: coding),
      detail: detail, codingPath: codingPath, underlying: underlying)
  }

  /// Runs a step of a parser and converts the error for its limit.
  func limiting<Output>(_ step: () throws -> Output) throws -> Output {
    do {
      return try step()
    } catch let error as ElementTooLong {
      var failure = failure("\(error.element) exceeds \(error.limit) bytes; change the limit with .streaming(_:)")
      failure.code = .contentTooLarge
      throw failure
    }
  }
}

/// A decoder that creates elements from their bytes and applies the policy for undecodable elements.
struct ElementDecoder<Element: Decodable & Sendable>: Sendable {
  private let context: StreamContext
  private let read: @Sendable (Data) throws -> Element
  /// The number of elements so far.
  private var count = 0

  init(_ context: StreamContext, read: @escaping @Sendable (Data) throws -> Element) {
    (self.context, self.read) = (context, read)
  }

  /// Creates a decoder of JSON.
  init(json context: StreamContext) {
    let coding = context.coding.effectiveJSON
    self.init(context) { try coding.decode(Element.self, from: $0) }
  }

  /// Returns an element, or `nil` if the app was notified that the element cannot be decoded.
  ///
  /// - Parameters:
  ///   - data: the bytes of the element.
  ///   - fault: the reason why the bytes cannot be decoded. Default: `nil`.
  /// - Throws: ``RejectedResponse``.
  mutating func decode(_ data: Data, fault: CallFault? = nil) throws -> Element? {
    let index = count
    count += 1
    do {
      if let fault { throw fault }
      return try read(data)
    } catch {
      if let handler = context.options.onUndecodable {
        handler(UndecodableElement(index: index, error: error))
        return nil
      }
      let failure = DecodingFailure(error)
      throw context.failure(
        "element \(index): \(failure.detail)", data: data, codingPath: failure.codingPath, underlying: error)
    }
  }
}
