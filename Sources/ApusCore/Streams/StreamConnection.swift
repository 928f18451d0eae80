import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One call of a stream whose response head has arrived, with the parser of its content. Releasing the connection ends
/// the call.
final class StreamConnection<Element: Sendable>: Sendable {
  private let call: Call
  private let message: ResponseMessage
  private let content: ResponseContent
  private let silence: SilenceTimer?
  private let elements: Mutex<StreamElements<Element>>

  /// Creates a connection from a call whose response head has arrived.
  ///
  /// - Throws: ``CallError`` if the response is not a stream of the declared kind.
  init(
    _ call: Call, _ message: ResponseMessage, _ source: StreamSource<Element>, lastEventID: String
  ) throws(CallError) {
    call.endDefaultLimit()
    var options = source.options
    options.lastEventID = lastEventID
    do {
      let context = StreamContext(message, coding: call.coding, options: options)
      elements = Mutex(StreamElements(try source.parser(context)))
    } catch {
      message.discard()
      throw call.fail(error)
    }
    (self.call, self.message) = (call, message)
    content = message.content.arriving
    silence = Self.silence(options.silenceTimeout, of: call, content)
  }

  private static func silence(_ limit: Duration?, of call: Call, _ content: ResponseContent) -> SilenceTimer? {
    guard let limit, limit < .endless else { return nil }
    let discard = content.discardAction
    return SilenceTimer(limit, call.host) {
      discard(
        TransportError(
          .timeout, in: .receiving, requestState: .responded,
          detail: "no byte arrived within the silence limit of \(limit.plainText); change it with .streaming(_:)"))
    }
  }

  /// The position in the stream once ``next()`` has returned `nil` or thrown.
  var position: StreamPosition { elements.withLock { $0.position } }
  /// Whether the server has ended the stream permanently.
  var isOver: Bool { elements.withLock { $0.isOver } }

  /// Returns the next element, or `nil` at the end of the response, which also ends the call.
  func next() async throws(CallError) -> Element? {
    do {
      repeat {
        // A call that was superseded or cancelled returns no element, even if an element is available.
        if Task.isCancelled { call.cancel(.caller) }
        try call.checkCancellation()
        if let element = try elements.withLock({ try $0.next() }) { return element }
      } while try await parseMore()
    } catch {
      discard()
      throw call.fail(error)
    }
    discard()
    try call.succeed()
    return nil
  }

  /// Requests and parses pieces until there are elements. Returns `false` at the end of the content.
  @concurrent  // Elements are decoded outside the caller's actor, like the values of other calls.
  private func parseMore() async throws -> Bool {
    while true {
      switch elements.withLock({ $0.parse() }) {
      case .elements: return true
      case .end: return false
      case .pieceNeeded:
        let piece = try await nextPiece()
        elements.withLock { $0.feed(piece) }
      }
    }
  }

  @concurrent
  private func nextPiece() async throws -> Data? {
    silence?.begin()
    defer { silence?.end() }
    return try await withTaskCancellationHandler {
      try await call.nextPiece(of: content)
    } onCancel: {
      call.cancel(.caller)
    }
  }

  private func discard() {
    silence?.stop()
    content.discard()
  }

  deinit {
    // Leaving a loop early is a success, like returning early from the closure of `withResponse`. A call that has
    // already ended ignores `succeed()`.
    silence?.stop()
    try? call.succeed()
    content.discard()
  }
}

/// The parsed elements of a response, and the parser of the remaining content. Pure.
struct StreamElements<Element: Sendable>: Sendable {
  /// The outcome of parsing.
  enum Progress {
    /// An element or an error is available.
    case elements
    case pieceNeeded
    case end
  }

  private var parser: any ElementParser<Element>
  private var queue = ItemQueue<Element>()
  private var hasAllContent = false

  /// The maximum number of elements that are decoded in one step. Content in memory is one piece, which may have many
  /// elements.
  private static var batch: Int { 100 }

  init(_ parser: any ElementParser<Element>) {
    self.parser = parser
  }

  var position: StreamPosition { parser.position }
  var isOver: Bool { parser.isOver }

  /// Returns the next element, or `nil` if more must be parsed.
  ///
  /// - Throws: the error after the last element.
  mutating func next() throws -> Element? { try queue.next() }

  /// Adds a piece, or the end of the content. Call it only when ``parse()`` has returned `pieceNeeded`.
  mutating func feed(_ piece: Data?) {
    if let piece {
      parser.feed(piece)
    } else {
      hasAllContent = true
      parser.finish()
    }
  }

  /// Parses the next elements. Call it only when ``next()`` has returned `nil`.
  mutating func parse() -> Progress {
    let count = queue.fill { elements in
      while elements.count < Self.batch, let element = try parser.next() { elements.append(element) }
      return elements.count
    }
    if count != 0 { return .elements }
    return parser.isOver || hasAllContent ? .end : .pieceNeeded
  }
}
