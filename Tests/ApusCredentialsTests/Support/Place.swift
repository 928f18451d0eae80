import ApusCore
import ApusFiles
import ApusTesting
import Foundation
import Synchronization
import Testing

@testable import ApusCredentials

/// A time of day that tests set.
final class Wall: Sendable {
  private let seconds = Mutex(1_790_000_000.25)

  var date: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

  func turn(by change: Double) {
    seconds.withLock { $0 += change }
  }
}

/// A folder that is not there at first, and is removed when the test is over; the stores of credentials in it.
struct Position: Sendable {
  let folder: String
  let clock = ManualClock(.manual)
  let wall = Wall()

  /// Runs a test in a folder of its own.
  static func with(_ test: (Position) async throws -> Void) async throws {
    let parent = FileManager.default.temporaryDirectory.path + "/apus-credentials-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: parent) }
    try await test(Position(folder: parent + "/private"))
  }

  private init(folder: String) {
    self.folder = folder
  }

  var file: String { folder + "/credentials" }
  var draft: String { file + ".new" }
  var keyFile: String { folder + "/key" }

  /// A store, as another process would open it; time stands still for it.
  func store(
    key: CredentialsFileKey? = nil, reached: @escaping @Sendable (Folder.Step) throws -> Void = { _ in }
  ) -> FileCredentialsStore {
    let clocks = Clocks(clock: clock, date: { [wall] in wall.date })
    let ways = FileCredentialsStore.Ways(clocks: clocks, rounds: 3, reached: reached)
    return FileCredentialsStore(at: file, key: key ?? .file(keyFile), ways: ways)
  }

  /// Waits between attempts at a lock, on the clock of the test.
  var pause: FileLock.Pause { Clocks(clock: clock, date: { [wall] in wall.date }).pause }

  /// A store for which time passes, so that it can wait for others.
  func waitingStore() -> FileCredentialsStore {
    FileCredentialsStore(at: file, key: .file(keyFile))
  }

  func bytes(_ path: String? = nil) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path ?? file)))
  }

  /// Puts bytes into a file, for its owner alone.
  func put(_ bytes: [UInt8], in path: String? = nil) throws {
    let path = path ?? file
    try? FileManager.default.removeItem(atPath: path)
    guard FileManager.default.createFile(atPath: path, contents: Data(bytes)), chmod(path, 0o600) == 0 else {
      throw CocoaError(.fileWriteUnknown)
    }
  }

  func exists(_ path: String) -> Bool { FilePath(path).status != .nothing }

  /// The permission bits.
  static func mode(of path: String) -> UInt32 {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt32(status.st_mode) & 0o777 : 0
  }
}

/// What was wrong with a file; `nil`: nothing. Any other error fails the test.
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
