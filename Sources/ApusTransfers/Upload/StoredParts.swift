#if Transfers
/// The parts of an upload that the server has, in order and without overlaps.
package struct StoredParts: Hashable, Sendable {
  /// A part that the server has.
  package struct Part: Hashable, Sendable {
    /// The offsets of the bytes.
    package let range: Range<Int64>
    /// The receipt that the server returned for the part and requires at completion, such as an entity tag. `nil` for
    /// protocols without receipts.
    package let receipt: String?

    package init(_ range: Range<Int64>, receipt: String? = nil) {
      (self.range, self.receipt) = (range, receipt)
    }
  }

  /// The parts by their offsets.
  package private(set) var parts: [Part] = []

  /// No bytes.
  package init() {}

  /// The first bytes of the content.
  package init(upTo offset: Int64) {
    if offset > 0 { parts = [Part(0..<offset)] }
  }

  /// Adds a part. Returns `false` if it overlaps another part.
  package mutating func insert(_ part: Part) -> Bool {
    guard !part.range.isEmpty else { return true }
    let index = parts.firstIndex { $0.range.lowerBound >= part.range.lowerBound } ?? parts.endIndex
    if index < parts.endIndex, parts[index].range.lowerBound < part.range.upperBound { return false }
    if index > 0, parts[index - 1].range.upperBound > part.range.lowerBound { return false }
    parts.insert(part, at: index)
    return true
  }

  /// The number of bytes.
  package var count: Int64 { parts.reduce(0) { $0 + Int64($1.range.count) } }

  /// The offset after the last byte.
  var end: Int64 { parts.last?.range.upperBound ?? 0 }

  /// Returns the first bytes that are missing, up to the next part or the end of the content; `nil`: none.
  func firstGap(of length: Int64) -> Range<Int64>? {
    var start: Int64 = 0
    for part in parts {
      if part.range.lowerBound > start { return start..<part.range.lowerBound }
      start = part.range.upperBound
    }
    return start < length ? start..<length : nil
  }
}
#endif
