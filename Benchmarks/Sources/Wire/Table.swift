import Foundation

/// Prints figures as median [lowest, highest].
enum Table {
  static func report(_ name: String, _ figures: [Double], digits: Int = 2) {
    let sorted = figures.sorted()
    func text(_ figure: Double) -> String { String(format: "%.\(digits)f", figure) }
    let padding = String(repeating: " ", count: max(1, 52 - name.count))
    print("\(name)\(padding)\(text(sorted[sorted.count / 2]))  [\(text(sorted[0])), \(text(sorted[sorted.count - 1]))]")
  }
}

/// What this process has used so far.
struct Used {
  /// Microseconds of processor time, on all threads.
  let processor: Double
  /// The most memory it ever had, in MiB.
  let peak: Double

  static var now: Used {
    var usage = rusage()
    #if os(Linux)
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      let bytes = Double(usage.ru_maxrss) * 1024
    #else
      getrusage(RUSAGE_SELF, &usage)
      let bytes = Double(usage.ru_maxrss)
    #endif
    let user = Double(usage.ru_utime.tv_sec) * 1e6 + Double(usage.ru_utime.tv_usec)
    let system = Double(usage.ru_stime.tv_sec) * 1e6 + Double(usage.ru_stime.tv_usec)
    return Used(processor: user + system, peak: bytes / 1_048_576)
  }
}

extension Duration {
  var microseconds: Double { Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12 }
}
