/// The size of the parts of an upload, within the limits of S3: at most 10,000 parts of 5 MiB (except the last part) to
/// 5 GiB.
struct S3PartSize: Hashable, Sendable {
  /// The number of bytes of all parts but the last.
  let bytes: Int64

  /// - Parameters:
  ///   - length: the number of bytes of the object.
  ///   - requested: the size that the app requests. Default: `nil`, 8 MiB. The size is increased where the limits
  ///     require this.
  /// - Returns: `nil` if the length exceeds the maximum of an object.
  init?(for length: Int64, requested: Int64? = nil) {
    guard length <= Self.maximumLength else { return nil }
    let least = length / Self.maximumCount + (length % Self.maximumCount == 0 ? 0 : 1)
    let size = min(max(requested ?? Self.defaultSize, Self.minimum), Self.maximum)
    bytes = max(size, least)
    if bytes > Self.maximum { return nil }
  }

  /// Returns the number, from 1, of the part that begins at an offset.
  func number(of part: Range<Int64>) -> Int { Int(part.lowerBound / bytes) + 1 }

  /// Returns the offsets of a part of an object with this length, or `nil` if the object has no such part.
  func range(of number: Int, length: Int64) -> Range<Int64>? {
    guard (1...Int(Self.maximumCount)).contains(number) else { return nil }
    let start = Int64(number - 1) * bytes
    return start < length ? start..<min(start + bytes, length) : nil
  }

  static let defaultSize: Int64 = 8 << 20
  static let minimum: Int64 = 5 << 20
  static let maximum: Int64 = 5 << 30
  static let maximumCount: Int64 = 10_000
  /// 48.8 TiB: 10,000 parts of 5 GiB.
  static let maximumLength = maximum * maximumCount
}
