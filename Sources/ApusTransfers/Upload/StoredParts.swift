/// The parts of an upload that the server has, in ascending order and without overlaps.
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

  /// The parts in the order of their offsets.
  package private(set) var parts: [Part] = []
  /// The number of bytes.
  package private(set) var count: Int64 = 0
  /// The number of parts before the first gap.
  private var leading = 0

  /// Creates an empty set of parts.
  package init() {}

  /// Creates parts that contain the bytes before an offset.
  package init(upTo offset: Int64) {
    if offset > 0 { (parts, count, leading) = ([Part(0..<offset)], offset, 1) }
  }

  /// Adds a part. Returns `false` if it overlaps another part.
  package mutating func insert(_ part: Part) -> Bool {
    guard !part.range.isEmpty else { return true }
    let index = index(of: part.range.lowerBound)
    if index < parts.endIndex, parts[index].range.lowerBound < part.range.upperBound { return false }
    if index > 0, parts[index - 1].range.upperBound > part.range.lowerBound { return false }
    parts.insert(part, at: index)
    count += Int64(part.range.count)
    while leading < parts.endIndex, parts[leading].range.lowerBound == leadingEnd { leading += 1 }
    return true
  }

  /// Returns the index of the first part that does not begin before an offset. A binary search, because a server may
  /// list 10,000 parts, each of which is inserted.
  private func index(of offset: Int64) -> Int {
    var (low, high) = (parts.startIndex, parts.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if parts[middle].range.lowerBound < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The offset of the first gap.
  private var leadingEnd: Int64 { leading == 0 ? 0 : parts[leading - 1].range.upperBound }

  /// The offset after the last byte.
  var end: Int64 { parts.last?.range.upperBound ?? 0 }

  /// Returns the first missing bytes, up to the next part or the end of the content. `nil`: no bytes are missing.
  func firstGap(of length: Int64) -> Range<Int64>? {
    let start = leadingEnd
    if leading < parts.endIndex { return start..<parts[leading].range.lowerBound }
    return start < length ? start..<length : nil
  }
}
