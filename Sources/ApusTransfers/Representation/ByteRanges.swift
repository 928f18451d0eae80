/// A set of bytes of a file, as ranges of offsets.
struct ByteRanges: Hashable, Sendable {
  /// The ranges in ascending order: not empty, not overlapping and not adjacent.
  private(set) var ranges: [Range<Int64>] = []

  init(_ ranges: some Sequence<Range<Int64>> = []) {
    for range in ranges { insert(range) }
  }

  /// The number of bytes.
  var count: Int64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

  /// The number of bytes from the start of the file to the first gap.
  var prefix: Int64 { ranges.first.flatMap { $0.lowerBound == 0 ? $0.upperBound : nil } ?? 0 }

  /// Whether the bytes start at the beginning of the file and have no gap.
  var isPrefix: Bool { count == prefix }

  mutating func insert(_ range: Range<Int64>) {
    guard !range.isEmpty else { return }
    let first = ranges.firstIndex { $0.upperBound >= range.lowerBound } ?? ranges.endIndex
    let end = ranges[first...].firstIndex { $0.lowerBound > range.upperBound } ?? ranges.endIndex
    let joined = ranges[first..<end].reduce(range) {
      min($0.lowerBound, $1.lowerBound)..<max($0.upperBound, $1.upperBound)
    }
    ranges.replaceSubrange(first..<end, with: [joined])
  }

  /// Returns the bytes before an offset.
  func clipped(to end: Int64) -> ByteRanges {
    ByteRanges(ranges.map { min($0.lowerBound, end)..<min($0.upperBound, end) })
  }

  /// Returns the missing ranges of a file with `total` bytes, in ascending order.
  func gaps(upTo total: Int64) -> [Range<Int64>] {
    var gaps: [Range<Int64>] = []
    var offset: Int64 = 0
    for range in clipped(to: total).ranges {
      if offset < range.lowerBound { gaps.append(offset..<range.lowerBound) }
      offset = range.upperBound
    }
    if offset < total { gaps.append(offset..<total) }
    return gaps
  }
}
