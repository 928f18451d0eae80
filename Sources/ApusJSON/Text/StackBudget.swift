/// The stack that a decoding or an encoding may use.
///
/// Models are decoded and encoded by their own functions, which call each other at each level. The size of their frames
/// depends on the model and on the optimization: from a few hundred bytes to several kilobytes a level. So a limit on
/// levels alone does not prevent an overflow of the thread's stack.
///
/// The budget is compared with the distance between the stack addresses now and at the start of decoding. This measure
/// works on every thread and needs no system call.
struct StackBudget {
  /// The maximum number of bytes: 256 KiB, half of the smallest stack that is supported.
  static let maximumBytes: UInt = 256 << 10
  /// The number of levels at which the stack is not measured, so that usual content has no cost.
  static let unmeasuredDepth = 8

  private var start = StackBudget.place

  /// Whether decoding or encoding uses more stack than permitted.
  mutating func isExhausted() -> Bool {
    let place = Self.place
    // Stacks grow downwards on all platforms.
    let used = start &- place
    if used <= Self.maximumBytes { return false }
    // A much larger distance means a different stack, because a stored decoder is used on another thread.
    if used < 2 * Self.maximumBytes { return true }
    start = place
    return false
  }

  /// The current stack address.
  @inline(never) private static var place: UInt {
    var mark: UInt8 = 0
    return withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
  }
}
