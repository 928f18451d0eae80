import ApusFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The content of the file of an entry: a prefix with lengths and digests, the head, and the content of the response.
///
/// The digest of the head covers the name, the lengths and the digest of the content. So an altered, shortened,
/// extended or renamed file is recognized, and the head can be checked without reading the content.
struct EntryFormat: Sendable {
  /// The first bytes of a file. The last byte is the version of the format.
  private static let magic: [UInt8] = Array("ApusRes".utf8) + [1]
  /// The number of bytes before the head.
  static let prefixLength = 56
  /// The largest number of bytes of a head.
  static let headLimit = 256 << 10
  /// The largest number of bytes of a file; see ``CacheIndex/entryLimit``.
  private static let sizeLimit: Int64 = 16 << 20
  /// The number of bytes up to which a file is read at once.
  static let smallSize = 64 << 10

  /// The key of names.
  let nameKey: DigestKey
  private let headKey: DigestKey
  private let content: ContentDigest

  /// - Parameter key: the key of the folder.
  init(_ key: DigestKey) {
    nameKey = key.derived(1)
    headKey = key.derived(2)
    content = ContentDigest(key.derived(3))
  }

  /// The lengths and digests at the start of a file.
  private struct Prefix {
    var headLength: Int
    var hasContent: Bool
    var contentLength: Int
    var contentDigest: KeyedDigest
    var headDigest: KeyedDigest

    var size: Int { EntryFormat.prefixLength + headLength + contentLength }
  }

  // MARK: Writing

  /// Returns the bytes of a file before the content. `nil`: the head is too large.
  func start(of name: String, _ head: EntryHead, _ content: Data?) -> [UInt8]? {
    let encoded = head.encoded
    guard encoded.count <= Self.headLimit else { return nil }
    let contentDigest = content.map { data in data.withUnsafeBytes { self.content.digest($0) } }
    var prefix = Prefix(
      headLength: encoded.count, hasContent: content != nil, contentLength: content?.count ?? 0,
      contentDigest: contentDigest ?? KeyedDigest(first: 0, second: 0), headDigest: KeyedDigest(first: 0, second: 0))
    prefix.headDigest = encoded.withUnsafeBytes { headDigest(name, prefix, $0) }
    var writer = ByteWriter(capacity: Self.prefixLength + encoded.count)
    writer.append(Self.magic)
    writer.write(UInt32(truncatingIfNeeded: prefix.headLength))
    writer.write(UInt32(prefix.hasContent ? 1 : 0))
    writer.write(UInt64(prefix.contentLength))
    writer.write(prefix.contentDigest)
    writer.write(prefix.headDigest)
    writer.append(encoded)
    return writer.bytes
  }

  private func headDigest(_ name: String, _ prefix: Prefix, _ head: UnsafeRawBufferPointer) -> KeyedDigest {
    var hasher = KeyedHasher(headKey)
    hasher.combine(name)
    hasher.combine(UInt64(prefix.hasContent ? 1 : 0))
    hasher.combine(UInt64(prefix.contentLength))
    hasher.combine(prefix.contentDigest)
    hasher.combine(head)
    return hasher.finish()
  }

  // MARK: Reading

  /// The parts of a file that were read.
  struct Found: Sendable {
    let head: EntryHead
    /// `nil`: a response without content, or one whose content was not read.
    let content: Data?
    /// Whether the content was read, if there is any.
    let isComplete: Bool
    let identity: FileIdentity
  }

  /// Reads a file.
  ///
  /// - Parameter completely: whether the content of a large file is read, too. The content of a file of at most 64 KiB
  ///   always is.
  /// - Returns: `nil` if the file is damaged, altered, renamed, or has another version.
  /// - Throws: ``FileError`` if reading failed, which does not say that the file is damaged.
  func read(_ file: Descriptor, _ name: String, completely: Bool) throws(FileError) -> Found? {
    let identity = try file.identity
    let size = identity.size
    guard size >= Self.prefixLength, size <= Self.sizeLimit else { return nil }
    var bytes = try file.read(completely ? Int(size) : min(Int(size), Self.smallSize), at: 0)
    guard let prefix = bytes.withUnsafeBytes({ Self.prefix($0) }), Int64(prefix.size) == size else { return nil }
    let headEnd = Self.prefixLength + prefix.headLength
    if bytes.count < headEnd { bytes += try file.read(headEnd - bytes.count, at: Int64(bytes.count)) }
    guard bytes.count >= headEnd else { return nil }
    let head = bytes.withUnsafeBytes { bytes -> EntryHead? in
      let encoded = UnsafeRawBufferPointer(rebasing: bytes[Self.prefixLength..<headEnd])
      return headDigest(name, prefix, encoded) == prefix.headDigest ? try? EntryHead(encoded) : nil
    }
    guard let head else { return nil }
    guard prefix.hasContent, bytes.count == prefix.size else {
      return Found(head: head, content: nil, isComplete: !prefix.hasContent, identity: identity)
    }
    let isWhole = bytes.withUnsafeBytes { bytes in
      content.digest(UnsafeRawBufferPointer(rebasing: bytes[headEnd...])) == prefix.contentDigest
    }
    guard isWhole else { return nil }
    return Found(head: head, content: Data(bytes[headEnd...]), isComplete: true, identity: identity)
  }

  private static func prefix(_ bytes: UnsafeRawBufferPointer) -> Prefix? {
    var reader = ByteReader(bytes)
    guard (try? reader.take(magic.count))?.elementsEqual(magic) ?? false,
      let headLength = try? reader.number(UInt32.self), headLength <= headLimit,
      let flags = try? reader.number(UInt32.self), flags <= 1,
      let contentLength = try? reader.number(UInt64.self), contentLength <= UInt64(Int32.max),
      flags == 1 || contentLength == 0, let contentDigest = try? reader.digest(), let headDigest = try? reader.digest()
    else { return nil }
    return Prefix(
      headLength: Int(headLength), hasContent: flags == 1, contentLength: Int(contentLength),
      contentDigest: contentDigest, headDigest: headDigest)
  }
}
