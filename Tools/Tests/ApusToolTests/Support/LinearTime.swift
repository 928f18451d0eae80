import Foundation

/// A measurement of how work's time grows with the size of its input.
///
/// It uses the shortest processor time of this thread in several runs, because other load can only lengthen it.
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

  /// The seconds below which a measurement is noise; more under a sanitizer, which is many times slower.
  private static let noise = ProcessInfo.processInfo.environment["APUS_SANITIZER"] == nil ? 0.1 : 5

  private static let size: Int = {
    let rounds = ProcessInfo.processInfo.environment["APUS_FUZZ"].flatMap { Int($0) } ?? 0
    return rounds >= 1000 ? 100_000 : 10_000
  }()

  /// Whether ten times the bytes take at most 12 times as long: 100 KB compared with 10 KB, or 1 MB with 100 KB in long
  /// runs (`APUS_FUZZ` of 1,000 rounds or more).
  ///
  /// - Parameters:
  ///   - make: returns input of a number of bytes.
  ///   - work: the work to measure.
  static func holds<Input>(for make: (Int) -> Input, _ work: (Input) -> Void) -> Bool {
    let (small, large) = (make(size), make(10 * size))
    var (least, most) = (Double.infinity, Double.infinity)
    for _ in 0..<30 {
      // Ten small inputs are measured as one: they should take as long as a large input, and are affected equally by
      // other load.
      least = min(least, time { for _ in 0..<10 { work(small) } })
      most = min(most, time { work(large) })
      // Very short times are noise; quadratic work takes seconds.
      if most <= max(1.2 * least, noise) { return true }
    }
    return false
  }

  /// Returns a generator of strings that repeat a piece. Parsers may backtrack on such strings.
  static func repeating(_ piece: String, after start: String = "", before end: String = "") -> (Int) -> String {
    { length in start + String(repeating: piece, count: max(1, length / max(1, piece.utf8.count))) + end }
  }
}
