import Foundation

/// How many files and sockets the process may have open.
enum OpenFiles {
  /// As many as the system allows without being asked for more.
  ///
  /// - Returns: how many that are; the largest number where there is no limit.
  static func raiseLimit() -> Int {
    var limit = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    guard getrlimit(resource, &limit) == 0 else { return .max }
    var raised = limit
    raised.rlim_cur = limit.rlim_max
    #if canImport(Darwin)
      // More is refused there, though the limit says that there is none.
      raised.rlim_cur = min(raised.rlim_cur, rlim_t(OPEN_MAX))
    #endif
    if limit.rlim_cur < raised.rlim_cur, setrlimit(resource, &raised) == 0 { limit = raised }
    return Int(clamping: limit.rlim_cur)
  }
}
