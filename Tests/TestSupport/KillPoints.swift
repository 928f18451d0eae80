#if os(Linux)
import Foundation

/// The changes of the file system at which tests kill a process. The process is killed immediately before the change.
public enum KillPoints {
  /// The library that counts the changes and kills the process. `nil`: no compiler is installed.
  public static let library: String? = compiled()

  /// Whether a test kills a process before every change. `false`: only before some changes.
  public static var isExhaustive: Bool { ProcessInfo.processInfo.environment["APUS_KILLS"] == "all" }

  /// Returns the numbers of the changes before which a process is killed: the last changes, and some evenly spread
  /// earlier changes. Flushes and changes of permissions are not among the last changes.
  ///
  /// - Parameters:
  ///   - late: the number of last changes. Default: 8, in which transfers complete or are removed.
  ///   - early: the number of earlier changes.
  public static func numbers(of changes: [String], late: Int = 8, early: Int = 4) -> [Int] {
    guard !isExhaustive, changes.count > late + early else { return Array(1...max(changes.count, 1)) }
    let decisive = changes.indices.filter { !changes[$0].hasPrefix("fsync ") && !changes[$0].hasPrefix("fchmod ") }
    let last = decisive.suffix(late).map { $0 + 1 }
    let others = (last.first ?? changes.count) - 1
    return Set((0..<early).map { 1 + $0 * others / early } + last).sorted()
  }

  private static func compiled() -> String? {
    let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../scripts/kill-points.c")
    guard let program = Bundle.main.executableURL else { return nil }
    let library = program.deletingLastPathComponent().appending(path: "kill-points-\(getpid()).so").path
    for compiler in ["clang", "cc", "gcc"] {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source.standardizedFileURL.path, "-ldl",
      ]
      guard (try? process.run()) != nil else { continue }
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { continue }
      // The tests use the library until this process ends.
      atexit { if let library = KillPoints.library { unlink(library) } }
      return library
    }
    return nil
  }
}
#endif
