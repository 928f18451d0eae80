#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A splitter of content that arrives in pieces into lines. Pure.
///
/// A line within one block is passed on in place; only a line that continues in the next block is copied.
struct LineSplitter {
  /// The end of a line.
  enum Ending: Sendable {
    /// CR, LF or CRLF.
    case any
    /// LF.
    case lineFeed
  }

  private let ending: Ending
  private let limit: Int
  private var piece = Data()
  /// The offset of the next block in `piece`.
  private var position = 0
  /// The beginning of a line that continues in the next block.
  private var partial: [UInt8] = []
  /// Whether the last line ended with a CR at the end of a block, so that an LF at the start of the next block belongs
  /// to that line end.
  private var skipsLineFeed = false

  /// The maximum size of a block in bytes, which bounds the number of lines that a parser keeps.
  static let blockSize = 64 << 10

  /// Creates a splitter.
  ///
  /// - Parameters:
  ///   - ending: the end of a line.
  ///   - limit: the maximum length of a line, without its end, in bytes.
  init(_ ending: Ending, limit: Int) {
    (self.ending, self.limit) = (ending, limit)
  }

  /// Adds a piece. Call it only when ``nextBlock(_:)`` has returned `false`.
  mutating func feed(_ piece: Data) {
    (self.piece, position) = (piece, 0)
  }

  /// Passes the lines that end in the next block of the piece, without their ends, to `body`.
  ///
  /// Works on blocks, not lines, because access to the bytes of a `Data` takes longer than finding the end of a line.
  ///
  /// - Returns: whether there was a block. If not, another piece is needed.
  /// - Throws: ``ElementTooLong``, even before the end of the line; the error of `body`. The splitter can then no
  ///   longer be used.
  mutating func nextBlock(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
    guard position < piece.count else { return false }
    let block = position..<min(position + Self.blockSize, piece.count)
    let current = piece
    position = block.upperBound
    if position == piece.count { piece = Data() }
    try current.withUnsafeBytes { try split($0.part(block), body) }
    return true
  }

  /// Passes the rest of the content, an unterminated line, to `body`, unless it is empty.
  ///
  /// - Throws: the error of `body`.
  mutating func rest(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    if !partial.isEmpty { try partial.withUnsafeBytes(body) }
    partial = []
  }

  private mutating func split(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var start = skipsLineFeed && bytes.first == ByteSearch.lineFeed ? 1 : 0
    skipsLineFeed = false
    while start < bytes.count {
      let end = lineEnd(in: bytes, from: start)
      guard partial.count + (end - start) <= limit else { throw ElementTooLong(element: "a line", limit: limit) }
      guard end < bytes.count else {
        partial.append(contentsOf: bytes.part(start..<end))
        return
      }
      if partial.isEmpty {
        try body(bytes.part(start..<end))
      } else {
        partial.append(contentsOf: bytes.part(start..<end))
        try rest(body)
      }
      start = passLineEnd(at: end, in: bytes)
    }
  }

  private func lineEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    switch ending {
    case .any: ByteSearch.lineEnd(in: bytes, from: start)
    case .lineFeed: ByteSearch.first(ByteSearch.lineFeed, in: bytes, from: start)
    }
  }

  /// Returns the index after the end of a line.
  private mutating func passLineEnd(at end: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    let next = end + 1
    guard ending == .any, bytes[end] == ByteSearch.carriageReturn else { return next }
    guard next < bytes.count else {
      skipsLineFeed = true
      return next
    }
    return bytes[next] == ByteSearch.lineFeed ? next + 1 : next
  }
}

/// The items that a parser found in a block, and the error after the last item.
struct ItemQueue<Item: Sendable>: Sendable {
  /// The items in reverse order, so that removing the first item does not copy the rest.
  private var items: [Item] = []
  private var error: (any Error)?

  /// Returns the next item, or `nil` after the last item.
  ///
  /// - Throws: the error after the last item.
  mutating func next() throws -> Item? {
    if let item = items.popLast() { return item }
    if let error { throw error }
    return nil
  }

  /// Replaces the items, all of which must have been taken.
  mutating func fill<Output>(_ work: (inout [Item]) throws -> Output) -> Output? {
    items.removeAll(keepingCapacity: true)
    defer { items.reverse() }
    do {
      return try work(&items)
    } catch {
      self.error = error
      return nil
    }
  }
}
