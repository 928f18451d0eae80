import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The content (body) of a request message.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum MessageContent: Sendable {
  /// No content.
  case empty
  /// Bytes in memory.
  case bytes(Data)
  /// The bytes of a file, read while they are sent. Replayable as long as the file exists.
  case file(ContentFile)
  /// Bytes produced while they are sent.
  case stream(ContentStream)
  /// Several contents, one after the other. Multipart content with files or streams has this form.
  case joined([MessageContent])

  /// The number of bytes, or `nil` if it is unknown before the end.
  public var length: Int64? {
    switch self {
    case .empty: 0
    case .bytes(let data): Int64(data.count)
    case .file(let file): file.length
    case .stream(let stream): stream.length
    case .joined(let contents): Self.length(of: contents)
    }
  }

  /// Whether the same bytes can be sent more than once.
  public var isReplayable: Bool {
    switch self {
    case .empty, .bytes, .file: true
    case .stream(let stream): stream.isReplayable
    case .joined(let contents): contents.allSatisfy(\.isReplayable)
    }
  }

  /// Whether there is no content. Content of zero bytes counts as content.
  public var isEmpty: Bool {
    if case .empty = self { return true }
    return false
  }

  /// Returns the total number of bytes, or `nil` if the length of a content is unknown.
  private static func length(of contents: [MessageContent]) -> Int64? {
    var total: Int64 = 0
    for content in contents {
      guard let length = content.length else { return nil }
      let (sum, isTooLarge) = total.addingReportingOverflow(length)
      guard !isTooLarge else { return nil }
      total = sum
    }
    return total
  }
}

/// A file that is sent as content.
public struct ContentFile: Sendable, Hashable {
  /// The path of the file.
  public let path: String
  /// The size of the file in bytes when this value was created.
  public let length: Int64

  /// Checks the file and reads its size.
  ///
  /// - Parameter path: an absolute path, or a path relative to the working directory.
  /// - Throws: an error with a description if the file is missing, not a regular file or not readable.
  public init(path: String) throws {
    let manager = FileManager.default
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    guard let attributes = try? manager.attributesOfItem(atPath: target) else {
      throw ContentFileError(path: path, reason: "there is no such file")
    }
    guard attributes[.type] as? FileAttributeType == .typeRegular else {
      throw ContentFileError(path: path, reason: "it is not a regular file")
    }
    guard manager.isReadableFile(atPath: path) else {
      throw ContentFileError(path: path, reason: "it is not readable")
    }
    // The type of the number depends on the platform and on the linked libraries; its description does not.
    guard let length = attributes[.size].flatMap({ Int64("\($0)") }) else {
      throw ContentFileError(path: path, reason: "its size is unknown")
    }
    self.path = path
    self.length = length
  }
}

/// A file that cannot be sent.
struct ContentFileError: Error, Hashable, CustomStringConvertible {
  /// The path as given.
  let path: String
  /// The reason as a clause, for example `it is not readable`.
  let reason: String

  var description: String { "the file \(path) cannot be sent: \(reason)" }
}

/// Content that is produced while it is sent.
///
/// The transport requests one piece at a time, so that pieces are produced no faster than they are sent.
public struct ContentStream: Sendable {
  /// A function that returns the next piece, or `nil` at the end.
  public typealias Pieces = @Sendable () async throws -> Data?

  /// The total number of bytes, or `nil` if it is unknown beforehand.
  public let length: Int64?
  /// Whether ``makePieces`` may be called more than once.
  public let isReplayable: Bool
  /// Starts to produce the content from its beginning.
  public let makePieces: @Sendable () throws -> Pieces
  /// The same bytes as a range of a file. Default: `nil`.
  package var slice: FileSlice?

  /// Creates content from a function that starts to produce pieces.
  ///
  /// - Parameters:
  ///   - length: the total number of bytes, if known. The exchange fails if the pieces have another length. Default:
  ///     `nil`.
  ///   - isReplayable: whether each call of `makePieces` produces the same bytes.
  ///   - makePieces: starts to produce the content from its beginning.
  public init(length: Int64? = nil, isReplayable: Bool, makePieces: @escaping @Sendable () throws -> Pieces) {
    self.length = length
    self.isReplayable = isReplayable
    self.makePieces = makePieces
  }

  /// Creates replayable content from a sequence that can be iterated several times.
  public init<Source: AsyncSequence & Sendable>(length: Int64? = nil, _ source: Source) where Source.Element == Data {
    self.init(length: length, isReplayable: true) {
      let iterator = IteratorBox(source.makeAsyncIterator())
      return { try await iterator.next() }
    }
  }
}

/// Pieces of content from several sources, one source after the other.
///
/// Each source is opened when the sources before it have ended.
package final class JoinedPieces<Piece: Sendable>: Sendable {
  package typealias Pieces = @Sendable () async throws -> Piece?
  package typealias Source = @Sendable () async throws -> Pieces

  private struct State {
    var sources: ArraySlice<Source>
    var current: Pieces?
  }

  private let state: Mutex<State>

  package init(_ sources: [Source]) {
    state = Mutex(State(sources: sources[...]))
  }

  /// Returns the next piece, or `nil` after the last source. Called by one reader at a time.
  package func next() async throws -> Piece? {
    while true {
      if let current = state.withLock({ $0.current }) {
        if let piece = try await current() { return piece }
        state.withLock { $0.current = nil }
      } else {
        guard let source = state.withLock({ $0.sources.popFirst() }) else { return nil }
        let opened = try await source()
        state.withLock { $0.current = opened }
      }
    }
  }
}

/// An iterator that a `Sendable` closure can advance. Transports request one piece at a time.
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
