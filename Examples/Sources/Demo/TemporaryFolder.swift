import Foundation

/// A new folder for files, which only its owner can read.
struct TemporaryFolder: Sendable {
  /// The path of the folder.
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("apus-demo-\(UUID().uuidString)").path

  init() throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// Returns the path of a file in the folder.
  func path(_ name: String) -> String { "\(path)/\(name)" }

  func remove() {
    // If this fails, the system removes the temporary folder later.
    try? FileManager.default.removeItem(atPath: path)
  }
}
