/// The size of the parts of an upload, within the limits of S3: at most 10,000 parts of 5 MiB (except the last one) to
/// 5 GiB.
struct S3PartSize: Hashable, Sendable {
  /// The number of bytes of all parts but the last.
  let bytes: Int64

  /// - Parameters:
  ///   - length: the number of bytes of the object.
  ///   - wanted: the size that the app wants. Default: `nil`, 8 MiB. It is raised where the limits demand it.
  /// - Returns: `nil` if no object can have this length.
  init?(for length: Int64, wanted: Int64? = nil) {
    guard length <= Self.maximumLength else { return nil }
    let least = length / Self.maximumCount + (length % Self.maximumCount == 0 ? 0 : 1)
    let wanted = min(max(wanted ?? Self.standard, Self.minimum), Self.maximum)
    bytes = max(wanted, least)
    if bytes > Self.maximum { return nil }
  }

  /// The number of the part that begins at an offset, from 1.
  func number(of part: Range<Int64>) -> Int { Int(part.lowerBound / bytes) + 1 }

  /// The offsets of a part of an object with this length, or `nil` if it has no such part.
  func range(of number: Int, length: Int64) -> Range<Int64>? {
    guard (1...Int(Self.maximumCount)).contains(number) else { return nil }
    let start = Int64(number - 1) * bytes
    return start < length ? start..<min(start + bytes, length) : nil
  }

  static let standard: Int64 = 8 << 20
  static let minimum: Int64 = 5 << 20
  static let maximum: Int64 = 5 << 30
  static let maximumCount: Int64 = 10_000
  /// 48.8 TiB: 10,000 parts of 5 GiB.
  static let maximumLength = maximum * maximumCount
}
