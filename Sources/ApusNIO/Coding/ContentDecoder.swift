import ApusCore
import HTTPTypes
import NIOCore

/// A decoder of a response's content codings (RFC 9110 §8.4). It decodes the content as the content arrives, within
/// limits.
///
/// Call ``next(from:)`` for each piece of content until it returns `nil`, and ``finish()`` at the end. The output of
/// each step is bounded, so that at most one more piece is decoded for a slow reader. A class, because zlib's state
/// cannot be copied; belongs to one event loop.
final class ContentDecoder {
  /// The maximum number of bytes in one piece: 64 KiB.
  static let pieceLength = 64 << 10

  private struct Stage {
    let inflater: Inflater
    /// Unread output of the previous stage; for the first stage, the caller's bytes.
    var input = ByteBuffer()
  }

  private let limits: CodingLimits
  /// The stages in the order of decoding: the coding applied last comes first.
  private var stages: [Stage]

  /// - Parameters:
  ///   - chain: the codings in the order in which they were applied. The initializer returns `nil` for an empty chain.
  ///   - limits: the limits on the growth of content.
  ///   - permitsTrailingBytes: whether up to 4 KiB that follow the last member of a gzip coding are skipped. Default:
  ///     `true`.
  init?(_ chain: [ContentCoding], limits: CodingLimits = CodingLimits(), permitsTrailingBytes: Bool = true) {
    guard !chain.isEmpty else { return nil }
    self.limits = limits
    stages = chain.reversed().map { Stage(inflater: Inflater($0, permitsTrailingBytes: permitsTrailingBytes)) }
  }

  /// The number of bytes that were skipped because they follow the end of a coding.
  var skipped: Int64 { stages.reduce(0) { $0 + $1.inflater.skipped } }

  /// Returns the decoder for a response with these fields; `nil` if its content is passed on unchanged.
  ///
  /// - Throws: ``CodingError/Kind/tooManyCodings``.
  static func decoder(
    for fields: HTTPFields, limits: CodingLimits = CodingLimits()
  ) throws(CodingError) -> ContentDecoder? {
    let chain = try ContentCoding.chain(of: fields, limits: limits)
    guard !chain.isEmpty else { return nil }
    // A digest covers all coded bytes, so no byte may be skipped.
    return ContentDecoder(chain, limits: limits, permitsTrailingBytes: !Self.digests.contains { fields.contains($0) })
  }

  /// The fields with a digest of the content (RFC 9530 §2, §3; RFC 3230 §4.3.2).
  private static let digests = ["Content-Digest", "Repr-Digest", "Digest"].compactMap { HTTPField.Name($0) }

  /// Returns the next piece of content, never empty; `nil` if more coded bytes are needed. Consumes the bytes that were
  /// read.
  func next(from bytes: inout ByteBuffer) throws(CodingError) -> ByteBuffer? {
    stages[0].input.take(&bytes)
    return try piece(of: stages.count - 1)
  }

  /// Returns all the content that these bytes decode to, bounded only by the limits. Intended for short content.
  func decode(_ bytes: ByteBuffer) throws(CodingError) -> ByteBuffer {
    var bytes = bytes
    var all = try next(from: &bytes) ?? ByteBuffer()
    while var piece = try next(from: &bytes) { all.writeBuffer(&piece) }
    return all
  }

  /// Ends the content.
  ///
  /// - Throws: ``CodingError/Kind/truncated`` if a coding is incomplete.
  func finish() throws(CodingError) {
    for index in stages.indices { try stages[index].inflater.finish(&stages[index].input) }
  }

  private func piece(of index: Int) throws(CodingError) -> ByteBuffer? {
    let inflater = stages[index].inflater
    while true {
      let piece = try inflater.inflate(&stages[index].input, capacity: Self.pieceLength)
      if piece.readableBytes > 0 {
        try check(inflater)
        return piece
      }
      guard index > 0, var more = try self.piece(of: index - 1) else { return nil }
      stages[index].input.take(&more)
    }
  }

  private func check(_ inflater: Inflater) throws(CodingError) {
    guard inflater.produced <= limits.length else {
      throw CodingError(.tooLarge, "the decoded content exceeds \(limits.length) bytes")
    }
    guard inflater.produced > limits.ratioAllowance else { return }
    let (most, isUnlimited) = max(1, stages[0].inflater.consumed).multipliedReportingOverflow(by: limits.ratio)
    guard isUnlimited || inflater.produced <= most else {
      throw CodingError(.ratioTooHigh, "the content grew more than \(limits.ratio) times")
    }
  }
}

/// A content coding that Apus decodes (RFC 9110 §8.4.1).
enum ContentCoding: Sendable, Hashable {
  /// RFC 1952, one or more members.
  case gzip
  /// RFC 1950; also bare RFC 1951, which some servers send under this name.
  case deflate

  /// The value of `Accept-Encoding` (RFC 9110 §12.5.3).
  static let acceptable = "gzip, deflate"

  /// Returns the codings of a response's content in the order in which they were applied. Empty if there are none, or
  /// if one of them is unknown: such content is passed on unchanged.
  ///
  /// - Throws: ``CodingError/Kind/tooManyCodings``; the limit covers all fields together.
  static func chain(of fields: HTTPFields, limits: CodingLimits) throws(CodingError) -> [ContentCoding] {
    let names = fields.contentCodings
    guard names.count <= limits.chainLength else {
      throw CodingError(.tooManyCodings, "the content has more than \(limits.chainLength) codings")
    }
    var chain: [ContentCoding] = []
    for name in names {
      switch name {
      case "gzip", "x-gzip": chain.append(.gzip)
      case "deflate": chain.append(.deflate)
      case "identity": break
      default: return []
      }
    }
    return chain
  }
}

/// The limits on the growth of content by decoding. Content that exceeds them is refused.
///
/// A few bytes can decode to very many, so unbounded decoding would let the server determine how much memory and time
/// is spent. Codings can be nested, so their number is bounded as well.
struct CodingLimits: Sendable, Hashable {
  /// The maximum number of decoded bytes of one coding: 1 GiB.
  var length: Int64 = 1 << 30
  /// The maximum ratio of decoded bytes to received bytes, beyond ``ratioAllowance``: 200.
  ///
  /// One layer of deflate can reach a ratio of 1,032. Ordinary text has a ratio of 5 to 20, repetitive logs of 100.
  var ratio: Int64 = 200
  /// The number of decoded bytes permitted at any ratio, because short responses can be very repetitive: 8 MiB.
  var ratioAllowance: Int64 = 8 << 20
  /// The maximum number of codings in all `Content-Encoding` fields of a response: 5.
  var chainLength = 5
}

/// An error in decoding a response's content coding (RFC 9110 §8.4).
struct CodingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// More codings than ``NIOTransport/ResponseLimits/contentCodings``.
    case tooManyCodings
    /// The bytes do not follow the coding's format, or their checksum is wrong.
    case malformed
    /// The content ended before its coding did.
    case truncated
    /// Bytes follow the end of the coding and cannot be skipped: there are too many, or a digest covers them.
    case trailingBytes
    /// More content than ``NIOTransport/ResponseLimits/decodedBytes``.
    case tooLarge
    /// The content grew more than ``NIOTransport/ResponseLimits/decodedRatio`` allows.
    case ratioTooHigh
    /// zlib could not allocate its memory.
    case outOfMemory
  }

  /// The kind of fault.
  let kind: Kind
  /// A description for logs. Contains no content.
  let detail: String

  init(_ kind: Kind, _ detail: String) {
    self.kind = kind
    self.detail = detail
  }

  /// The kind and the detail.
  var description: String { "\(kind.rawValue): \(detail)" }
}
