/// Limits on JSON that is read.
public struct JSONLimits: Sendable, Hashable {
  /// The greatest number of arrays and objects inside each other.
  public let depth: Int
  /// The greatest number of bytes; `nil`: any number.
  public let bytes: Int?

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - depth: from 0 to ``maximumDepth``; other values count as the nearest of these. Default: the greatest.
  ///   - bytes: default: any number.
  public init(depth: Int = JSONLimits.maximumDepth, bytes: Int? = nil) {
    self.depth = min(max(0, depth), Self.maximumDepth)
    self.bytes = bytes
  }

  /// 512 levels: a value of that depth can be released on a thread with a small stack.
  public static let maximumDepth = 512
  /// 512 levels, any number of bytes.
  public static let standard = JSONLimits()
}
