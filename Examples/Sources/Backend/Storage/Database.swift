import Foundation
import GRDB

/// The SQLite database, in WAL mode, so that readers do not wait for the writer.
struct Database: Sendable {
  let pool: DatabasePool
  /// The folder of a temporary database, removed on close.
  private let temporaryFolder: URL?

  /// The path of the database file.
  var path: String { pool.path }

  /// Opens the database and migrates its tables.
  ///
  /// - Parameter path: the path of the database file; `nil` for a temporary one.
  init(path: String?) throws {
    if let path {
      temporaryFolder = nil
      pool = try Self.open(path)
    } else {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("backend-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      temporaryFolder = folder
      pool = try Self.open(folder.appendingPathComponent("backend.sqlite").path)
    }
  }

  /// Closes the database; removes a temporary one.
  func close() {
    // Connections in use cannot be closed, but the file can be removed.
    try? pool.close()
    if let temporaryFolder {
      try? FileManager.default.removeItem(at: temporaryFolder)
    }
  }

  private static func open(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    // Another process may hold the file's lock briefly.
    configuration.busyMode = .timeout(5)
    configuration.maximumReaderCount = 4
    let pool = try DatabasePool(path: path, configuration: configuration)
    try Schema.migrator.migrate(pool)
    return pool
  }
}
