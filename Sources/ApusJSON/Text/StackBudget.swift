/// The stack that a decoding or an encoding may use.
///
/// Models are decoded and encoded by their own functions, which call each other at each level. The size of their frames
/// depends on the model and on the optimization: from a few hundred bytes to several kilobytes a level. So a number of
/// levels alone does not keep them within the stack of a thread.
///
/// The measure is the distance to the place where decoding began. It is the same on every thread and needs no function of
/// the system.
struct StackBudget {
  /// The maximum number of bytes: 256 KiB, half of the smallest stack that is supported.
  static let maximumBytes: UInt = 256 << 10
  /// The number of levels that are not measured, so that usual content costs nothing.
  static let unmeasuredDepth = 8

  private var start = StackBudget.place

  /// Whether more is used than permitted.
  mutating func isExhausted() -> Bool {
    let place = Self.place
    // Stacks grow downwards on all platforms.
    let used = start &- place
    if used <= Self.maximumBytes { return false }
    // Much further away is another stack, on which a decoder that was kept is used.
    if used < 2 * Self.maximumBytes { return true }
    start = place
    return false
  }

  /// The present place on the stack.
  @inline(never) private static var place: UInt {
    var mark: UInt8 = 0
    return withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
  }
}
