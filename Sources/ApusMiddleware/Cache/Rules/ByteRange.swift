import ApusCore

/// A part of stored content.
struct ByteRange: Hashable, Sendable {
  /// The position of the first byte.
  let first: Int64
  /// The position of the last byte, inclusive.
  let last: Int64
  /// The number of bytes of the complete content.
  let total: Int64

  /// The number of bytes.
  var count: Int64 { last - first + 1 }

  /// The value of `Content-Range` (RFC 9110 §14.4).
  var contentRange: String { "bytes \(first)-\(last)/\(total)" }
}

/// The field `Range` of a request (RFC 9110 §14.2) with one range of bytes.
enum RangeRequest: Hashable, Sendable {
  /// From a position to the end, or to another position, inclusive.
  case from(Int64, to: Int64?)
  /// The last bytes.
  case suffix(Int64)
  /// Several ranges, another unit, or malformed text: only the server answers them.
  case unsupported

  /// Reads a value.
  init(_ value: String) {
    let text = value.utf8
    guard let sign = text.firstIndex(of: UInt8(ascii: "=")), Substring(text[..<sign]).lowercased() == "bytes" else {
      self = .unsupported
      return
    }
    let ends = text[text.index(after: sign)...].trimmed.split(
      separator: UInt8(ascii: "-"), maxSplits: 2, omittingEmptySubsequences: false)
    self = .unsupported
    guard ends.count == 2 else { return }
    let first = Self.number(ends[0])
    let last = Self.number(ends[1])
    switch (first, last) {
    case (nil, let last?) where ends[0].isEmpty: self = .suffix(last)
    case (let first?, nil) where ends[1].isEmpty: self = .from(first, to: nil)
    case (let first?, let last?) where first <= last: self = .from(first, to: last)
    default: break
    }
  }

  /// Returns the part of content with a length, or `nil` if the range is unsupported or cannot be satisfied.
  func part(of total: Int64) -> ByteRange? {
    switch self {
    case .from(let first, let last):
      guard first < total else { return nil }
      return ByteRange(first: first, last: min(last ?? .max, total - 1), total: total)
    case .suffix(let count):
      guard count > 0, total > 0 else { return nil }
      return ByteRange(first: max(0, total - count), last: total - 1, total: total)
    case .unsupported:
      return nil
    }
  }

  private static func number(_ text: Substring.UTF8View) -> Int64? {
    guard !text.isEmpty, text.count <= 18, text.allSatisfy(\.isDigit) else { return nil }
    return Int64(Substring(text))
  }
}
