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
    /// Bytes that were allocated and not freed; 0 where the system does not tell, and under a sanitizer, which keeps what
    /// was freed.
    let allocatedBytes: Int

    static var now: Resources {
      let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      return Resources(descriptors: descriptors ?? 0, allocatedBytes: isSanitized ? 0 : allocated)
    }

    /// Set by the scripts that build with a sanitizer.
    private static let isSanitized = ProcessInfo.processInfo.environment["APUS_SANITIZER"] != nil

    /// What glibc tells of its heaps, which memory in use does not: that one never gets smaller but by luck.
    private static var allocated: Int {
      typealias Info = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
      guard let info = dlsym(nil, "malloc_info"), let file = tmpfile() else { return 0 }
      defer { fclose(file) }
      guard unsafeBitCast(info, to: Info.self)(0, file) == 0 else { return 0 }
      rewind(file)
      var bytes: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 1 << 14)
      while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
      // The sums over all heaps stand behind the last of them.
      let text = String(decoding: bytes, as: UTF8.self)
      let sums = text.components(separatedBy: "</heap>").last ?? ""
      func size(_ element: String) -> Int {
        sums.firstRange(of: "<\(element) ").flatMap { start in
          let rest = sums[start.upperBound...].prefix { $0 != ">" }
          return rest.firstRange(of: "size=\"").flatMap { Int(rest[$0.upperBound...].prefix { $0 != "\"" }) }
        } ?? 0
      }
      return size("system type=\"current\"") + size("total type=\"mmap\"") - size("total type=\"fast\"")
        - size("total type=\"rest\"")
    }
  }
#endif
