import ApusCore
import ApusTransfers
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Content in the coding `aws-chunked`: chunks with their lengths, each signed unless only TLS protects them, and a
/// checksum after the last chunk.
struct ChunkedPayload: Sendable {
  /// The number of content bytes in a chunk; servers require at least 8 KiB.
  static let chunkLength = 64 << 10

  let trailer: ChecksumAlgorithm?
  let isSigned: Bool

  /// The text that is signed in place of a digest.
  var name: String {
    switch (isSigned, trailer) {
    case (true, nil): "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
    case (true, _?): "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
    case (false, _): "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
    }
  }

  /// Returns the number of bytes that are sent for content of a length; `nil` if the number exceeds 64 bits.
  func length(of decoded: Int64) -> Int64? {
    let size = Int64(Self.chunkLength)
    let (whole, rest) = decoded.quotientAndRemainder(dividingBy: size)
    let (chunks, isTooLong) = whole.multipliedReportingOverflow(by: size + overhead(of: size))
    guard !isTooLong else { return nil }
    let end = (rest > 0 ? rest + overhead(of: rest) : 0) + endLength
    let (sum, isBeyond) = chunks.addingReportingOverflow(end)
    return isBeyond ? nil : sum
  }

  /// Returns the number of bytes of a chunk in addition to its content: the line with its length, and the line break
  /// after the content.
  private func overhead(of count: Int64) -> Int64 {
    Int64(String(count, radix: 16).utf8.count + (isSigned ? ";chunk-signature=".utf8.count + 64 : 0) + 4)
  }

  /// The bytes of the empty chunk at the end, and of the trailer.
  private var endLength: Int64 {
    guard let trailer else { return overhead(of: 0) }
    let field = trailer.fieldName.utf8.count + 1 + trailer.textLength + 2
    let signature = isSigned ? "x-amz-trailer-signature:".utf8.count + 64 + 2 : 0
    // The trailer replaces the content of the empty chunk.
    return overhead(of: 0) - 2 + Int64(field + signature + 2)
  }

  /// Returns the content in encoded form. The content is encoded while it is sent, with at most a chunk and a piece of
  /// its source in memory.
  ///
  /// - Parameters:
  ///   - content: the content.
  ///   - length: its length.
  ///   - signing: the signature before the first chunk.
  func encoded(_ content: MessageContent, length: Int64, _ signing: ChunkSigning) -> MessageContent {
    let source = Self.pieces(of: content)
    return .stream(
      ContentStream(length: self.length(of: length), isReplayable: content.isReplayable) {
        let pieces = ChunkedPieces(source, ChunkEncoder(self, signing))
        return { try await pieces.next() }
      })
  }

  private static func pieces(of content: MessageContent) -> @Sendable () async throws -> ContentStream.Pieces {
    switch content {
    case .bytes(let data):
      return {
        let whole = Mutex<Data?>(data)
        return { whole.withLock { $0.take() } }
      }
    case .empty: return { { nil } }
    default:
      return content.makePieces
    }
  }
}

/// The key and the scope of the signatures of chunks. Each signature covers the previous signature.
struct ChunkSigning: Sendable {
  let key: SymmetricKey
  /// The time and the scope, each on a line.
  let scope: String
  /// The latest signature, initially that of the request.
  private(set) var signature: String

  init(key: SymmetricKey, scope: String, seed: String) {
    (self.key, self.scope, signature) = (key, scope, seed)
  }

  private static let emptyDigest = SignatureV4.emptyDigest

  mutating func sign(chunk: Data) {
    sign("AWS4-HMAC-SHA256-PAYLOAD", "\(Self.emptyDigest)\n", SHA256.hash(data: chunk))
  }

  /// - Parameter trailer: the trailer fields, each with a line feed.
  mutating func sign(trailer: String) {
    sign("AWS4-HMAC-SHA256-TRAILER", "", SHA256.hash(data: Data(trailer.utf8)))
  }

  private mutating func sign(_ algorithm: String, _ prefix: String, _ digest: SHA256.Digest) {
    var text = CanonicalText(capacity: 320)
    text.append("\(algorithm)\n\(scope)\n\(signature)\n\(prefix)")
    text.append(hexadecimal: digest)
    var hexadecimal = CanonicalText(capacity: 64)
    hexadecimal.append(hexadecimal: HMAC<SHA256>.authenticationCode(for: text.bytes, using: key))
    signature = hexadecimal.string
  }
}

/// An encoder of content as chunks, with the rest of the last piece. A pure state machine.
struct ChunkEncoder: Sendable {
  private let payload: ChunkedPayload
  private var signing: ChunkSigning
  private var checksum: Checksum?
  private var rest = Data()

  init(_ payload: ChunkedPayload, _ signing: ChunkSigning) {
    (self.payload, self.signing) = (payload, signing)
    checksum = payload.trailer.map { Checksum($0) }
  }

  /// Adds a piece of content. Returns the complete chunks; empty if the content does not fill a chunk.
  mutating func append(_ piece: Data) -> Data {
    checksum?.update(piece)
    let size = ChunkedPayload.chunkLength
    guard rest.count + piece.count >= size else {
      rest += piece
      return Data()
    }
    var output = Data()
    output.reserveCapacity(rest.count + piece.count + 256)
    var left = piece[...]
    if !rest.isEmpty {
      let missing = size - rest.count
      write(rest + left.prefix(missing), to: &output)
      left = left.dropFirst(missing)
    }
    while left.count >= size {
      write(left.prefix(size), to: &output)
      left = left.dropFirst(size)
    }
    rest = Data(left)
    return output
  }

  /// Returns the last chunks and the trailer.
  mutating func finish() -> Data {
    var output = Data()
    if !rest.isEmpty { write(rest, to: &output) }
    writeLine(of: Data(), to: &output)
    if let trailer = payload.trailer, let checksum {
      let field = "\(trailer.fieldName):\(checksum.text)"
      output += "\(field)\r\n".utf8
      if payload.isSigned {
        signing.sign(trailer: "\(field)\n")
        output += "x-amz-trailer-signature:\(signing.signature)\r\n".utf8
      }
    }
    output += "\r\n".utf8
    return output
  }

  private mutating func write(_ chunk: Data, to output: inout Data) {
    writeLine(of: chunk, to: &output)
    output += chunk
    output += "\r\n".utf8
  }

  private mutating func writeLine(of chunk: Data, to output: inout Data) {
    output += String(chunk.count, radix: 16).utf8
    if payload.isSigned {
      signing.sign(chunk: chunk)
      output += ";chunk-signature=\(signing.signature)".utf8
    }
    output += "\r\n".utf8
  }
}

/// The pieces of chunked content, for one reader.
private final class ChunkedPieces: Sendable {
  private enum Source {
    case closed
    case open(ContentStream.Pieces)
    case ended
  }

  private let open: @Sendable () async throws -> ContentStream.Pieces
  private let source = Mutex(Source.closed)
  private let encoder: Mutex<ChunkEncoder>

  init(_ open: @escaping @Sendable () async throws -> ContentStream.Pieces, _ encoder: ChunkEncoder) {
    self.open = open
    self.encoder = Mutex(encoder)
  }

  func next() async throws -> Data? {
    while true {
      switch source.withLock({ $0 }) {
      case .ended: return nil
      case .closed:
        let pieces = try await open()
        source.withLock { $0 = .open(pieces) }
      case .open(let pieces):
        guard let piece = try await pieces() else {
          source.withLock { $0 = .ended }
          return encoder.withLock { $0.finish() }
        }
        let chunks = encoder.withLock { $0.append(piece) }
        if !chunks.isEmpty { return chunks }
      }
    }
  }
}
