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
