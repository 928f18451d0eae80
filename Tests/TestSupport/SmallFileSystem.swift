#if os(Linux)
import Foundation

/// A small file system that a test mounts for its own process.
public enum SmallFileSystem {
  /// Whether this user may mount a file system in a new namespace.
  public static let isAvailable: Bool = {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/tmp"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()
}
#endif
