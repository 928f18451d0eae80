import ApusTesting
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The resources that the process holds.
struct Resources: Sendable {
  /// The number of open files and sockets; 0 if the system does not report them.
  let descriptors: Int
  /// The number of allocated bytes; 0 except on glibc without a sanitizer, because sanitizers retain freed memory.
  let allocatedBytes: Int

  /// - Throws: ``ConformanceFailure`` if glibc's report has an unknown format.
  static func now() throws -> Resources {
    let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    return Resources(descriptors: descriptors ?? 0, allocatedBytes: isSanitized ? 0 : try allocated())
  }

  /// Whether the scripts have built the tests with a sanitizer.
  private static let isSanitized = ProcessInfo.processInfo.environment["APUS_SANITIZER"] != nil

  /// Returns the allocated bytes from glibc's report on its heaps. The memory of the process is unsuitable, because it
  /// rarely shrinks.
  private static func allocated() throws -> Int {
    typealias Info = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
    guard let info = dlsym(nil, "malloc_info") else { return 0 }
    guard let file = tmpfile() else { throw ConformanceFailure("no temporary file can be made") }
    defer { fclose(file) }
    guard unsafeBitCast(info, to: Info.self)(0, file) == 0 else { throw ConformanceFailure("malloc_info fails") }
    rewind(file)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 14)
    while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
    // The sums over all heaps follow the last heap.
    let text = String(decoding: bytes, as: UTF8.self)
    let sums = text.components(separatedBy: "</heap>").last ?? ""
    func size(_ element: String) throws -> Int {
      let size = sums.firstRange(of: "<\(element) ").flatMap { start in
        let rest = sums[start.upperBound...].prefix { $0 != ">" }
        return rest.firstRange(of: "size=\"").flatMap { Int(rest[$0.upperBound...].prefix { $0 != "\"" }) }
      }
      guard let size else { throw ConformanceFailure("malloc_info tells nothing of <\(element)>") }
      return size
    }
    return try size("system type=\"current\"") + size("total type=\"mmap\"") - size("total type=\"fast\"")
      - size("total type=\"rest\"")
  }
}
