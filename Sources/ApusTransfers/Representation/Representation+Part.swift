import HTTPTypes

extension Representation {
  /// The meaning of a partial response (206) for a known file.
  enum Part: Hashable {
    /// The content (body) is this range of the file.
    case content(Range<Int64>)
    /// The range is not the requested range. A server must not send such a response (RFC 9110 §15.3.7).
    case unusable
    /// The content is a part of another file.
    case other
  }

  /// Interprets the head of a partial response to a request for the bytes from an offset on. Adds the digests of the
  /// complete file that the head states.
  mutating func part(_ head: HTTPResponse, from offset: Int64) -> Part {
    let fields = head.headerFields
    guard let validator, let total else { return .unusable }
    // A multipart response has no `Content-Range`, but some servers set this field nevertheless.
    guard !Self.isMultipart(fields), let text = fields[.contentRange],
      case .part(let first, let last, let stated)? = ContentRange(text),
      first == offset, Self.hasLength(last - first + 1, fields)
    else { return .unusable }
    guard stated ?? total == total, last < total, !Self.isCoded(fields), validator.isConfirmed(by: fields),
      add(DigestField.representation.digests(in: fields))
    else { return .other }
    return .content(first..<last + 1)
  }

  /// Adds digests from trailers. Returns `false` if they contradict known digests: the file has changed.
  mutating func add(_ more: [FileDigest]) -> Bool {
    for digest in more {
      guard let known = digests.first(where: { $0.algorithm == digest.algorithm }) else {
        digests.append(digest)
        continue
      }
      guard known == digest else { return false }
    }
    return true
  }

  private static func isMultipart(_ fields: HTTPFields) -> Bool {
    fields[.contentType]?.lowercased().utf8.starts(with: "multipart/byteranges".utf8) ?? false
  }

  private static func hasLength(_ length: Int64, _ fields: HTTPFields) -> Bool {
    guard let announced = fields[.contentLength] else { return true }
    return ContentRange.number(announced[...].utf8) == length
  }
}
