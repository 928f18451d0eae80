#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The description of an incomplete download, stored beside its bytes. Another process continues from this description.
///
/// The record contains no query, no user information and no fields (headers) except the fields that describe the file.
struct DownloadRecord: Codable, Hashable, Sendable {
  /// The version of the format: 1 if the bytes are the first bytes of the file, 2 if there are gaps between them, 3 if
  /// the file is complete. Records of other versions are ignored.
  private(set) var version = 1
  /// The URL without its query, for diagnosis.
  var url: String
  /// The SHA-256 hash of everything that identifies the resource, see ``DownloadSource``.
  var source: String
  var entityTag: String?
  var lastModified: String?
  var total: Int64
  var mediaType: String?
  /// The digests of the complete file that the server stated, in the syntax of their field.
  var digests: String?
  /// The number of bytes at the start of the file that were on the disk when the record was written.
  var durable: Int64
  /// The flushed bytes, if there may be gaps between them: pairs of the offsets at which contiguous bytes begin and
  /// end.
  private var ranges: [[Int64]]?
  /// The session of the system in which the record was written.
  var boot: String?
  /// The time at which a complete and verified file could not get its final name, in seconds since 1970. Set only for
  /// files without a strong validator, because the server cannot confirm such files.
  private var completed: Int64?

  /// Creates the record of a resumable representation; `nil` if the representation is not resumable.
  init?(_ representation: Representation, of source: DownloadSource, durable: Int64, boot: String?) {
    guard representation.isResumable, let total = representation.total else { return nil }
    (url, self.source, self.total, self.durable, self.boot) = (source.url, source.hash, total, durable, boot)
    switch representation.validator {
    case .entityTag(let tag): entityTag = tag
    case .lastModified(let date): lastModified = date
    case nil: return nil
    }
    mediaType = representation.mediaType
    let members = representation.digests.map(\.member)
    digests = members.isEmpty ? nil : members.joined(separator: ", ")
  }

  /// Creates the record of a complete and verified file, whose bytes are all flushed.
  ///
  /// - Parameter now: seconds since 1970.
  init(complete representation: Representation, of source: DownloadSource, size: Int64, now: Int64) {
    (url, self.source, total, durable) = (source.url, source.hash, size, size)
    (version, completed, mediaType) = (3, now, representation.mediaType)
  }

  /// Reads a record. Returns `nil` for damaged records and other versions.
  init?(_ bytes: [UInt8]) {
    guard let record = try? JSONDecoder().decode(Self.self, from: Data(bytes)), record.total >= 0, record.durable >= 0,
      record.version == (record.completed != nil ? 3 : record.ranges == nil ? 1 : 2), record.hasValidRanges
    else { return nil }
    self = record
  }

  private var hasValidRanges: Bool {
    guard let ranges else { return true }
    return ranges.count <= Self.rangeLimit && ranges.allSatisfy { $0.count == 2 && 0 <= $0[0] && $0[0] <= $0[1] }
  }

  /// Whether the file is complete, so that no further request is needed.
  var isComplete: Bool { completed != nil }

  /// Whether a complete file of this size may get its final name. `false` after a day: the file may have changed on the
  /// server.
  ///
  /// - Parameter now: seconds since 1970.
  func permitsPublishing(_ size: Int64, now: Int64) -> Bool {
    guard let completed, size == total else { return false }
    return (-Self.completeLifetime...Self.completeLifetime).contains(now.subtractingReportingOverflow(completed).0)
  }

  /// Whether there may be gaps between the flushed bytes.
  var hasGaps: Bool { ranges != nil }

  /// The flushed bytes of a download with gaps.
  var flushed: ByteRanges {
    ByteRanges((ranges ?? []).lazy.filter { $0.count == 2 && $0[0] <= $0[1] }.map { $0[0]..<$0[1] })
  }

  /// Records that the first bytes of the file, up to an offset, are flushed.
  mutating func set(prefix: Int64) { (version, durable, ranges) = (1, prefix, nil) }

  /// Records flushed bytes that have gaps between them.
  mutating func set(_ flushed: ByteRanges) {
    (version, durable) = (2, flushed.prefix)
    // Further ranges would make the record too large. Their bytes are transferred again.
    ranges = flushed.ranges.prefix(Self.rangeLimit).map { [$0.lowerBound, $0.upperBound] }
  }

  func encoded() -> [UInt8]? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { [UInt8]($0) }
  }

  var representation: Representation {
    let validator = entityTag.map { Validator.entityTag($0) } ?? lastModified.map { Validator.lastModified($0) }
    return Representation(
      validator: validator, total: total, mediaType: mediaType,
      digests: digests.map { DigestField.digests(in: $0) } ?? [])
  }

  /// Returns the number of bytes from which a download may continue.
  ///
  /// Bytes that were written but not flushed are in the system's cache, which outlives the process but not the boot
  /// session: after a power loss a file may have its new length without its new content.
  ///
  /// - Parameters:
  ///   - size: the present size of the incomplete file.
  ///   - boot: the present boot session; `nil`: unknown.
  func trusted(of size: Int64, boot: String?) -> Int64 {
    // A longer file was not written by this download.
    guard size <= total else { return 0 }
    return boot != nil && boot == self.boot ? size : min(size, durable)
  }

  /// The maximum number of recorded ranges.
  private static let rangeLimit = 1000
  /// The number of seconds for which a complete file is kept.
  private static let completeLifetime: Int64 = 86_400
}
