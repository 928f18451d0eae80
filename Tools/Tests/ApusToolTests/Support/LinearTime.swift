import Foundation

/// How the time of some work grows with what it is given.
///
/// The processor's time of this thread counts, not the wall's, and of several runs the shortest: other work on the machine
/// can only lengthen it.
struct LinearTime {
  private static func time(of work: () -> Void) -> Double {
    let start = now
    work()
    return now - start
  }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Seconds that are measured by chance; more under a sanitizer, where everything takes many times as long.
  private static let noise = ProcessInfo.processInfo.environment["APUS_SANITIZER"] == nil ? 0.1 : 5

  private static let size: Int = {
    let rounds = ProcessInfo.processInfo.environment["APUS_FUZZ"].flatMap { Int($0) } ?? 0
    return rounds >= 1000 ? 100_000 : 10_000
  }()

  /// Whether ten times the bytes take at most 12 times as long: 100 KB beside 10 KB, or 1 MB beside 100 KB in long runs
  /// (`APUS_FUZZ` of 1,000 rounds or more).
  ///
  /// - Parameters:
  ///   - make: makes input of so many bytes.
  ///   - work: is timed.
  static func holds<Input>(for make: (Int) -> Input, _ work: (Input) -> Void) -> Bool {
    let (small, large) = (make(size), make(10 * size))
    var (least, most) = (Double.infinity, Double.infinity)
    for _ in 0..<30 {
      // Ten times the small one takes as long as the large one once, and is disturbed as much.
      least = min(least, time { for _ in 0..<10 { work(small) } })
      most = min(most, time { work(large) })
      // What takes no time is measured by chance; what looks at its input again and again takes seconds.
      if most <= max(1.2 * least, noise) { return true }
    }
    return false
  }

  /// Texts that repeat a piece, which parsers may look at again and again.
  static func repeating(_ piece: String, after start: String = "", before end: String = "") -> (Int) -> String {
    { length in start + String(repeating: piece, count: max(1, length / max(1, piece.utf8.count))) + end }
  }
}
