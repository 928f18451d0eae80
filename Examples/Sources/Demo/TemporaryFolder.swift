import Foundation

/// A new folder for files, which only its owner may read.
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
    // A temporary folder: the system removes what is left.
    try? FileManager.default.removeItem(atPath: path)
  }
}
