import Foundation
import GRDB

/// Where everything is kept: SQLite in WAL mode, so that readers never wait for the writer.
struct Database: Sendable {
  let pool: DatabasePool
  /// The folder to remove in the end, when the database is a temporary one.
  private let temporaryFolder: URL?

  /// The database's file.
  var path: String { pool.path }

  /// Opens the database and brings its tables up to date.
  ///
  /// - Parameter path: The database's file, or `nil` for a temporary one.
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

  /// Closes the database, and removes it when it was a temporary one.
  func close() {
    // A connection still in use cannot be closed; the file goes all the same.
    try? pool.close()
    if let temporaryFolder {
      try? FileManager.default.removeItem(at: temporaryFolder)
    }
  }

  private static func open(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    // Another process may hold the file's lock for a moment.
    configuration.busyMode = .timeout(5)
    configuration.maximumReaderCount = 4
    let pool = try DatabasePool(path: path, configuration: configuration)
    try Schema.migrator.migrate(pool)
    return pool
  }
}
