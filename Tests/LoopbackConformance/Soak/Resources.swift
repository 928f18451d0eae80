#if NIO
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif
  import Foundation

  /// What the process holds.
  struct Resources: Sendable {
    /// Open files and sockets; 0 where the system does not tell.
    let descriptors: Int
    /// Bytes in memory; 0 where the system does not tell, and under a sanitizer, which keeps what was freed.
    let residentBytes: Int

    static var now: Resources {
      giveBack()
      let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      return Resources(descriptors: descriptors ?? 0, residentBytes: isSanitized ? 0 : pages * Int(getpagesize()))
    }

    /// Set by the scripts that build with a sanitizer.
    private static let isSanitized = ProcessInfo.processInfo.environment["APUS_SANITIZER"] != nil

    /// Has glibc give back what was freed, which is not held any more: how much that is depends on luck.
    private static func giveBack() {
      typealias Trim = @convention(c) (Int) -> Int32
      if !isSanitized, let trim = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(trim, to: Trim.self)(0) }
    }

    private static var pages: Int {
      let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
      return text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
  }
#endif
