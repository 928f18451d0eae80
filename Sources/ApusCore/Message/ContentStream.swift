#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Content that is made while it is sent.
///
/// The transport asks for one piece at a time, so the pieces are made no faster than they are sent.
public struct ContentStream: Sendable {
  /// One pass over the content: the next piece at each call, `nil` at the end.
  public typealias Pieces = @Sendable () async throws -> Data?

  /// How many bytes all pieces have together; `nil` when that is not known beforehand.
  public let length: Int64?
  /// Whether ``makePieces`` may be called more than once.
  public let isReplayable: Bool
  /// Starts a pass over the content.
  public let makePieces: @Sendable () throws -> Pieces

  /// Makes content of a function that starts a pass over the pieces.
  ///
  /// - Parameters:
  ///   - length: total bytes, when known; the exchange fails when the pieces disagree.
  ///   - isReplayable: whether a second pass gives the same bytes.
  ///   - makePieces: starts a pass.
  public init(length: Int64? = nil, isReplayable: Bool, makePieces: @escaping @Sendable () throws -> Pieces) {
    self.length = length
    self.isReplayable = isReplayable
    self.makePieces = makePieces
  }

  /// Makes replayable content of a sequence that can be iterated several times.
  public init<Source: AsyncSequence & Sendable>(length: Int64? = nil, _ source: Source) where Source.Element == Data {
    self.init(length: length, isReplayable: true) {
      let iterator = IteratorBox(source.makeAsyncIterator())
      return { try await iterator.next() }
    }
  }
}

/// Lets a `Sendable` closure drive an iterator; transports ask for one piece at a time.
private actor IteratorBox<Iterator: AsyncIteratorProtocol> where Iterator.Element == Data {
  private var iterator: Iterator?

  init(_ iterator: sending Iterator) {
    self.iterator = iterator
  }

  func next() async throws -> Data? {
    guard var current = iterator else { return nil }
    iterator = nil
    let piece = try await current.next(isolation: self)
    iterator = current
    return piece
  }
}
