import Foundation

/// A measurement of how the time of a parser grows with its input.
///
/// It uses the processor time of the current thread, and the shortest of several runs, because other work on the machine
/// can only lengthen a run.
public enum LinearTime {
  /// Returns the processor time of work on the current thread, in seconds.
  public static func time(of work: () throws -> Void) rethrows -> Double {
    let start = now
    try work()
    return now - start
  }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The number of seconds below which a measurement is mostly noise; more with a sanitizer, which slows down all code.
  private static let noise = ProcessInfo.processInfo.environment["APUS_SANITIZER"] == nil ? 0.1 : 5

  private static let size: Int = {
    let rounds = ProcessInfo.processInfo.environment["APUS_FUZZ"].flatMap { Int($0) } ?? 0
    return rounds >= 1000 ? 100_000 : 10_000
  }()

  /// Returns whether ten times the input takes at most 12 times as long. Compares 100 KB with 10 KB, or 1 MB with
  /// 100 KB in long runs (`APUS_FUZZ` of at least 1,000 rounds).
  ///
  /// - Parameters:
  ///   - make: returns input of a number of bytes.
  ///   - work: the work to time.
  public static func holds<Input>(for make: (Int) -> Input, _ work: (Input) -> Void) -> Bool {
    let (small, large) = (make(size), make(10 * size))
    var (least, most) = (Double.infinity, Double.infinity)
    // There are many rounds, because a busy machine may disturb most rounds. The bound itself is not relaxed.
    for _ in 0..<100 {
      // In linear time, ten small inputs take as long as a large input, and are disturbed as often.
      least = min(least, time { for _ in 0..<10 { work(small) } })
      most = min(most, time { work(large) })
      // Work below the noise is fast enough; quadratic work takes seconds.
      if most <= max(1.2 * least, noise) { return true }
    }
    return false
  }

  /// Returns a function that creates text with a number of bytes by repeating a piece.
  public static func repeating(_ piece: String, after start: String = "", before end: String = "") -> (Int) -> String {
    { length in start + String(repeating: piece, count: max(1, length / max(1, piece.utf8.count))) + end }
  }
}
