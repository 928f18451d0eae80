import ApusFiles

#if canImport(Darwin)
import Darwin
#endif

/// The session of the operating system, from one boot to the next. Bytes that were written but not flushed survive the
/// death of a process, but not the end of the session.
enum BootSession {
  /// The session's identifier. `nil` if it is unknown.
  static let current: String? = identifier()

  private static func identifier() -> String? {
    #if canImport(Darwin)
    var size = 0
    guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 0, size <= 128 else { return nil }
    var text = [UInt8](repeating: 0, count: size)
    guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    #else
    guard let file = try? Descriptor.reading("/proc/sys/kernel/random/boot_id"),
      let bytes = try? file.read(128, at: 0)
    else { return nil }
    let text = String(decoding: bytes.prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self)
    return text.isEmpty ? nil : text
    #endif
  }
}
