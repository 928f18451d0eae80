import ApusCore
import ApusFiles
import ApusTesting
import Foundation
import Synchronization
import Testing

@testable import ApusCredentials

/// A folder, removed after the test, with stores of credentials. The folder is missing at first.
struct CredentialsFolder: Sendable {
  let folder: String
  let clock = ManualClock(.manual)
  let wall = ManualWallClock()

  /// Runs a test with a new folder.
  static func with(_ test: (CredentialsFolder) async throws -> Void) async throws {
    let parent = FileManager.default.temporaryDirectory.path + "/apus-credentials-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: parent) }
    try await test(CredentialsFolder(folder: parent + "/private"))
  }

  private init(folder: String) {
    self.folder = folder
  }

  var file: String { folder + "/credentials" }
  var draft: String { file + ".new" }
  var keyFile: String { folder + "/key" }

  /// Returns a store, as another process would open it. Its clock stands still.
  func store(
    key: CredentialsFileKey? = nil, reached: @escaping @Sendable (Folder.Step) throws -> Void = { _ in }
  ) -> FileCredentialsStore {
    let clocks = Clocks(clock: clock, date: { [wall] in wall.date })
    let dependencies = FileCredentialsStore.Dependencies(clocks: clocks, rounds: 3, reached: reached)
    return FileCredentialsStore(at: file, key: key ?? .file(keyFile), dependencies: dependencies)
  }

  /// The pause between attempts to acquire a lock, by the clock of the test.
  var pause: FileLock.Pause { Clocks(clock: clock, date: { [wall] in wall.date }).pause }

  /// Returns a store with a running clock, so that it can wait for other processes.
  func waitingStore() -> FileCredentialsStore {
    FileCredentialsStore(at: file, key: .file(keyFile))
  }

  func bytes(_ path: String? = nil) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path ?? file)))
  }

  /// Replaces a file by bytes that only the owner can access.
  func put(_ bytes: [UInt8], in path: String? = nil) throws {
    let path = path ?? file
    try? FileManager.default.removeItem(atPath: path)
    guard FileManager.default.createFile(atPath: path, contents: Data(bytes)), chmod(path, 0o600) == 0 else {
      throw CocoaError(.fileWriteUnknown)
    }
  }

  func exists(_ path: String) -> Bool { FilePath(path).status != .nothing }

  /// Returns the permission bits of a file.
  static func mode(of path: String) -> UInt32 {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt32(status.st_mode) & 0o777 : 0
  }
}

/// A wall clock that tests set.
final class ManualWallClock: Sendable {
  private let seconds = Mutex(1_790_000_000.25)

  var date: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

  func advance(by change: Double) {
    seconds.withLock { $0 += change }
  }
}

/// Returns the problem with a file; `nil` if the call succeeds. Any other error fails the test.
func reason(
  at location: SourceLocation = #_sourceLocation, _ call: () async throws -> Void
) async -> CredentialsStoreError.Problem? {
  do {
    try await call()
    return nil
  } catch let error as CredentialsStoreError {
    return error.problem
  } catch {
    Issue.record(error, sourceLocation: location)
    return nil
  }
}
