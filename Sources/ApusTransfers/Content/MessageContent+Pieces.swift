package import ApusCore
import ApusFiles
import Foundation
import Synchronization

extension MessageContent {
  /// A function that starts to read the content in pieces.
  package var makePieces: @Sendable () async throws -> ContentStream.Pieces {
    switch self {
    case .empty: return { { nil } }
    case .bytes(let data): return { BytePieces(data).pieces }
    case .file(let file):
      return {
        let pieces = try await FilePieces.open(file.path, 0..<file.length)
        return { try await pieces.next() }
      }
    case .stream(let stream): return { try stream.makePieces() }
    case .joined(let contents):
      return {
        let pieces = JoinedPieces(contents.map(\.makePieces))
        return { try await pieces.next() }
      }
    }
  }

  /// Returns a range of the content as separate content. The range can be sent as often as the whole content.
  ///
  /// - Parameters:
  ///   - range: the offsets of the bytes, within the content.
  ///   - version: the version that a file must have. `nil`: only the length of the file is compared.
  func part(_ range: Range<Int64>, of version: FileVersion?) -> MessageContent {
    let length = Int64(range.count)
    switch self {
    case .bytes(let data):
      let start = data.startIndex + Int(range.lowerBound)
      return .bytes(data[start..<start + Int(length)])
    case .file(let file):
      var stream = ContentStream(length: length, isReplayable: true) {
        let opening = FilePieces.Opening(file.path, range, version)
        return { try await opening.next() }
      }
      stream.slice = FileSlice(range: range) { try FilePieces.openSlice(file.path, range, version) }
      return .stream(stream)
    default:
      let makePieces = makePieces
      return .stream(
        ContentStream(length: length, isReplayable: isReplayable) {
          let cut = CutPieces(makePieces, range)
          return { try await cut.next() }
        })
    }
  }
}

/// The pieces of bytes in memory.
private final class BytePieces: Sendable {
  private let rest: Mutex<Data>

  init(_ data: Data) {
    rest = Mutex(data)
  }

  var pieces: ContentStream.Pieces {
    {
      self.rest.withLock { rest in
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(FilePieces.length) }
        return rest.prefix(FilePieces.length)
      }
    }
  }
}

/// A part of a file, read in pieces on a queue of its own.
private final class FilePieces: Sendable {
  /// The length of a piece in bytes.
  static let length = 256 << 10

  /// A range of a file. The file is opened when the first piece is requested. The range has one reader.
  final class Opening: Sendable {
    private let open: @Sendable () async throws -> FilePieces
    private let opened = Mutex<FilePieces?>(nil)

    init(_ path: String, _ range: Range<Int64>, _ version: FileVersion?) {
      open = { try await FilePieces.open(path, range, version) }
    }

    func next() async throws -> Data? {
      if let opened = opened.withLock({ $0 }) { return try await opened.next() }
      let pieces = try await open()
      opened.withLock { $0 = pieces }
      return try await pieces.next()
    }
  }

  private let queue: FileQueue
  private let file: Descriptor
  private let version: FileVersion
  private let end: Int64
  private let offset: Mutex<Int64>

  private init(_ queue: FileQueue, _ file: Descriptor, _ version: FileVersion, _ range: Range<Int64>) {
    (self.queue, self.file, self.version, end) = (queue, file, version, range.upperBound)
    offset = Mutex(range.lowerBound)
  }

  /// Opens a file to read a range of its bytes.
  ///
  /// - Parameter version: the version that the file must have. Default: `nil` if the range is the whole file.
  /// - Throws: ``TransferError`` if the file can no longer be read; ``ContentChanged`` if it has changed.
  static func open(_ path: String, _ range: Range<Int64>, _ version: FileVersion? = nil) async throws -> FilePieces {
    let queue = FileQueue("content")
    let (file, present) = try await queue.run { try opened(path) }
    try check(present, range, version)
    return FilePieces(queue, file, present, range)
  }

  /// Opens a file, with the checks of `open`, for a transport that reads the file itself.
  static func openSlice(_ path: String, _ range: Range<Int64>, _ version: FileVersion?) throws -> OpenSlice {
    let (file, present) = try opened(path)
    try check(present, range, version)
    return OpenSlice(descriptor: file.number, owner: file) {
      guard try TransferError.converting({ try FileVersion(of: file) }) == present else { throw ContentChanged() }
    }
  }

  private static func opened(_ path: String) throws(TransferError) -> (Descriptor, FileVersion) {
    let file = try Descriptor.content(path)
    return (file, try TransferError.converting { try FileVersion(of: file) })
  }

  private static func check(_ present: FileVersion, _ range: Range<Int64>, _ version: FileVersion?) throws {
    guard version == nil ? present.size == range.upperBound : present == version else { throw ContentChanged() }
  }

  /// Returns the next piece, or `nil` after the range.
  ///
  /// - Throws: ``ContentChanged`` instead of the end if the file was changed while it was read.
  func next() async throws -> Data? {
    let start = offset.withLock { $0 }
    let count = Int(min(end - start, Int64(Self.length)))
    let (file, version, isLast) = (file, version, start + Int64(count) == end)
    let bytes: [UInt8]? = try await queue.run {
      let bytes = count > 0 ? try file.read(count, at: start) : []
      // Checks for changes before the last piece is sent, so that a changed file never arrives complete.
      guard isLast else { return bytes }
      return try FileVersion(of: file) == version ? bytes : nil
    }
    guard let bytes, bytes.count == count else { throw ContentChanged() }
    guard count > 0 else { return nil }
    offset.withLock { $0 += Int64(count) }
    return Data(bytes)
  }
}

/// A range of content that can be read only from the start of the content. The range has one reader.
private final class CutPieces: Sendable {
  private enum State {
    case closed
    case open(ContentStream.Pieces, offset: Int64)
  }

  private let makePieces: @Sendable () async throws -> ContentStream.Pieces
  private let range: Range<Int64>
  private let state = Mutex(State.closed)

  init(_ makePieces: @escaping @Sendable () async throws -> ContentStream.Pieces, _ range: Range<Int64>) {
    (self.makePieces, self.range) = (makePieces, range)
  }

  func next() async throws -> Data? {
    while true {
      switch state.withLock({ $0 }) {
      case .closed:
        let pieces = try await makePieces()
        state.withLock { $0 = .open(pieces, offset: 0) }
      case .open(let pieces, let offset):
        guard offset < range.upperBound else { return nil }
        guard let piece = try await pieces() else { throw ContentChanged() }
        let end = offset + Int64(piece.count)
        state.withLock { $0 = .open(pieces, offset: end) }
        let wanted = range.clamped(to: offset..<end)
        guard !wanted.isEmpty else { continue }
        let start = piece.startIndex + Int(wanted.lowerBound - offset)
        return piece[start..<start + wanted.count]
      }
    }
  }
}

/// The error of a file that was changed after the call began.
struct ContentChanged: LoggableError {
  var description: String { "the file to send was changed after the call began" }
}
