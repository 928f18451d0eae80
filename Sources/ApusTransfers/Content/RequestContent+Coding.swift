public import ApusCore
import ApusFiles
import Foundation
import Synchronization

extension RequestContent {
  /// Returns the content compressed with gzip while it is sent (RFC 9110 §8.4.1.3).
  ///
  /// <!-- sample: gzip -->
  /// ```swift
  /// try await api.send(.post("/logs", content: .file("/var/log/app.log").gzipped()))
  /// ```
  ///
  /// Use this method only for servers that are known to decode gzip, because a request cannot negotiate the coding.
  /// Files, streams and content of more than 1 MiB then have no length that is known beforehand.
  ///
  /// - Parameter level: from 1, the fastest, to 9, the smallest. Default: 6.
  public func gzipped(level: Int = 6) -> RequestContent {
    coded("gzip") { try $0.gzipped(level: level) }
  }

  /// Returns the content with its digest in the field (header) `Content-Digest` (RFC 9530 §2), so that the server can
  /// verify the content.
  ///
  /// The digest covers the content as it is sent, with its content coding. The digest must be known before the content
  /// is sent, so this method is for content in memory; a call with a file or a stream fails with `encoding`. For a file
  /// use ``FileDigest/init(ofFileAt:_:)`` and ``ApusCore/Endpoint/contentDigest(_:)``.
  ///
  /// - Parameter algorithm: the algorithm. Default: SHA-256.
  public func digested(_ algorithm: FileDigest.Algorithm = .sha256) -> RequestContent {
    describing { content in
      guard case .bytes(let data) = content else { throw UndigestedContent() }
      let stream = DigestStream([algorithm])
      data.withUnsafeBytes { stream.update($0) }
      return RawField("Content-Digest", stream.digests.map(\.member).joined(separator: ", "))
    }
  }
}

extension Endpoint {
  /// Sets the field `Content-Digest` (RFC 9530 §2), so that the server can verify the content.
  ///
  /// - Parameter digest: the digest of the content as it is sent.
  public func contentDigest(_ digest: FileDigest) -> Request<Value> {
    field("Content-Digest", digest.member)
  }
}

extension FileDigest {
  /// Computes the digest of a file, without blocking the threads of the concurrency runtime.
  ///
  /// <!-- sample: file-digest -->
  /// ```swift
  /// let digest = try await FileDigest(ofFileAt: "/films/ran.mp4", .sha256)
  /// try await api.send(.put("/films/ran", content: .file("/films/ran.mp4")).contentDigest(digest))
  /// ```
  ///
  /// - Throws: ``TransferError`` if the file cannot be read.
  public init(ofFileAt path: String, _ algorithm: Algorithm = .sha256) async throws(TransferError) {
    let digests = try await FileQueue("digest").run {
      let file = try Descriptor.content(path)
      let stream = DigestStream([algorithm])
      var offset: Int64 = 0
      while true {
        let piece = try file.read(Self.pieceLength, at: offset)
        guard !piece.isEmpty else { return stream.digests }
        piece.withUnsafeBytes { stream.update($0) }
        offset += Int64(piece.count)
      }
    }
    guard let digest = digests.first else { throw TransferError(.invalidDigest) }
    self = digest
  }

  private static var pieceLength: Int { 1 << 20 }
}

/// The error of content whose digest is not known before the content is sent.
private struct UndigestedContent: LoggableError {
  var description: String {
    "the digest of a file or a stream is not known before it is sent; set it with contentDigest(_:)"
  }
}

extension MessageContent {
  /// The maximum length of content that is compressed before it is sent. The compressed length is then known.
  private static let memoryLimit = 1 << 20

  fileprivate func gzipped(level: Int) throws -> MessageContent {
    switch self {
    case .empty: return .empty
    case .bytes(let data) where data.count <= Self.memoryLimit:
      let deflater = try Deflater(level: level)
      return .bytes(deflater.encode(data) + deflater.finish())
    default:
      let makePieces = makePieces
      return .stream(
        ContentStream(isReplayable: isReplayable) {
          let pieces = GzippedPieces(try Deflater(level: level), makePieces)
          return { try await pieces.next() }
        })
    }
  }
}

/// Pieces of content that are compressed when the transport requests them. The pieces have one reader.
private final class GzippedPieces: Sendable {
  private enum State {
    case closed
    case open(ContentStream.Pieces)
    case finished
  }

  private let deflater: Deflater
  private let makePieces: @Sendable () async throws -> ContentStream.Pieces
  private let state = Mutex(State.closed)

  init(_ deflater: Deflater, _ makePieces: @escaping @Sendable () async throws -> ContentStream.Pieces) {
    (self.deflater, self.makePieces) = (deflater, makePieces)
  }

  func next() async throws -> Data? {
    while true {
      switch state.withLock({ $0 }) {
      case .closed:
        let pieces = try await makePieces()
        state.withLock { $0 = .open(pieces) }
      case .open(let pieces):
        guard let piece = try await pieces() else {
          state.withLock { $0 = .finished }
          return deflater.finish()
        }
        let encoded = deflater.encode(piece)
        if !encoded.isEmpty { return encoded }
      case .finished: return nil
      }
    }
  }
}
