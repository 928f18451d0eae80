import ApusCore
import Foundation
import Synchronization

extension MessageContent {
  /// Returns content of any kind as a stream that can be started once.
  ///
  /// - Throws: `TransportError` if a file can no longer be read.
  func asStream() throws -> ContentStream {
    let sources = try sources()
    return ContentStream(length: length, isReplayable: false) {
      let pieces = JoinedPieces(sources)
      return { try await pieces.next() }
    }
  }

  private func sources() throws -> [JoinedPieces<Data>.Source] {
    switch self {
    case .empty: return []
    case .bytes(let data):
      return [
        {
          let rest = Mutex(Optional(data))
          return { rest.withLock { $0.take() } }
        }
      ]
    case .file(let file):
      let url = try OutgoingContent.url(of: file)
      return [
        {
          let reader = try FilePieces(of: url, length: file.length)
          return { try reader.next() }
        }
      ]
    case .stream(let stream): return [{ try stream.makePieces() }]
    case .joined(let contents): return try contents.flatMap { try $0.sources() }
    }
  }
}

/// A file that is read in pieces, up to the length measured before.
private final class FilePieces: Sendable {
  private static let pieceLength: Int64 = 256 << 10

  private struct State {
    let handle: FileHandle
    var rest: Int64
  }

  private let state: Mutex<State>

  init(of url: URL, length: Int64) throws {
    state = Mutex(State(handle: try FileHandle(forReadingFrom: url), rest: length))
  }

  func next() throws -> Data? {
    try state.withLock { state in
      guard state.rest > 0 else { return nil }
      guard let piece = try state.handle.read(upToCount: Int(min(state.rest, Self.pieceLength))), !piece.isEmpty else {
        return nil
      }
      state.rest -= Int64(piece.count)
      return piece
    }
  }
}
