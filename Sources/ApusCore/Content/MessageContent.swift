#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The content of a request message: the bytes, or where they come from.
public enum MessageContent: Sendable {
  /// No content.
  case empty
  /// Bytes in memory.
  case bytes(Data)
  /// A file's bytes, read when they are sent; replayable as long as the file stays.
  case file(ContentFile)
  /// Bytes made while they are sent.
  case stream(ContentStream)

  /// How many bytes there are; `nil` when that is known only at the end.
  public var length: Int64? {
    switch self {
    case .empty: 0
    case .bytes(let data): Int64(data.count)
    case .file(let file): file.length
    case .stream(let stream): stream.length
    }
  }

  /// Whether the same bytes can be sent a second time.
  public var isReplayable: Bool {
    if case .stream(let stream) = self { return stream.isReplayable }
    return true
  }

  /// Whether there is no content at all.
  public var isEmpty: Bool {
    if case .empty = self { return true }
    return false
  }
}

/// A file whose bytes are sent as content.
public struct ContentFile: Sendable, Hashable {
  /// Where the file is.
  public let path: String
  /// The file's size in bytes when it was looked at.
  public let length: Int64

  /// Looks at the file.
  ///
  /// - Parameter path: an absolute path, or one relative to the working directory.
  /// - Throws: ``ContentFileError`` when it is missing, not a regular file or not readable.
  public init(path: String) throws(ContentFileError) {
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
    // A number of one type or another, by platform and by what else is linked; its digits are always the same.
    guard let length = attributes[.size].flatMap({ Int64("\($0)") }) else {
      throw ContentFileError(path: path, reason: "its size is unknown")
    }
    self.path = path
    self.length = length
  }
}

/// A file that cannot be sent.
public struct ContentFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path as given.
  public let path: String
  /// Why, as half a sentence.
  public let reason: String
  /// The path and the reason.
  public var description: String { "cannot send the file \(path): \(reason)" }
}

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
