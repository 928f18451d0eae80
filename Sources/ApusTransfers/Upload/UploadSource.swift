package import ApusCore
import ApusFiles
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The content (body) of an upload, its length, and its identity for other processes.
package struct UploadSource: Sendable {
  /// The identity of content.
  enum Identity: Hashable, Sendable {
    /// A file by its path and its version.
    case file(path: String, FileVersion)
    /// Bytes in memory by their SHA-256 hash, in hexadecimal digits.
    case bytes(hash: String)
    /// Content that another process cannot recognize.
    case unknown
  }

  /// The content as it is sent.
  package let content: MessageContent
  /// The number of bytes.
  package let length: Int64
  let identity: Identity

  /// - Throws: ``TransferError`` if the content has no known length, cannot be read twice or cannot be read at all.
  init(_ content: MessageContent) async throws(TransferError) {
    guard let length = content.length else { throw TransferError(.unknownLength) }
    guard content.isReplayable else { throw TransferError(.notReplayable) }
    (self.content, self.length) = (content, length)
    switch content {
    case .file(let file):
      let version = try await FileQueue("content").run {
        try FileVersion(of: try Descriptor.content(file.path))
      }
      guard version.size == length else { throw TransferError(.contentChanged) }
      identity = .file(path: URL(filePath: file.path).standardizedFileURL.path, version)
    case .bytes(let data): identity = .bytes(hash: Hexadecimal.text(SHA256.hash(data: data)))
    default: identity = .unknown
    }
  }

  /// Returns a range of the bytes as separate content.
  package func part(_ range: Range<Int64>) -> MessageContent {
    var version: FileVersion?
    if case .file(_, let known) = identity { version = known }
    return content.part(range, of: version)
  }
}
