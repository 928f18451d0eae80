import ApusCore
import ApusFiles
import ApusMiddleware
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A sealed file with the cookies of one jar. It is replaced atomically, by one task at a time.
///
/// Processes need no lock, because none changes a part of the file: the last one that saves a jar wins.
final class CookieFile: CookieStorage {
  private struct Shared {
    var queue = SaveQueue()
    var waiters = WaiterTable<SaveQueue.Ticket, Void>()
    var failure: CookieStorageFailure?

    mutating func wait() -> SaveQueue.Ticket? {
      let ticket = queue.wait()
      if let ticket { waiters.register(ticket) }
      return ticket
    }
  }

  /// The content of an existing file; without properties if the file is empty.
  private struct Present {
    var record: CookieRecord?
    var seal: Seal?
  }

  /// The maximum size of the file in bytes, above that of a full jar.
  private static let limit = 64 << 20

  private let place: FilePath
  private let keys: KeyCache
  private let account: String
  private let dependencies: FileCredentialsStore.Dependencies
  private let shared = Mutex(Shared())

  init(at path: String, key: CredentialsFileKey, account: String, _ dependencies: FileCredentialsStore.Dependencies) {
    place = FilePath(path)
    keys = KeyCache(key, rounds: dependencies.rounds, derives: dependencies.derives)
    self.account = CookieRecord.hash(ofAccount: account)
    self.dependencies = dependencies
  }

  var now: @Sendable () -> Date { dependencies.clocks.date }
  var name: String { place.name }
  var failure: CookieStorageFailure? { shared.withLock { $0.failure } }

  // MARK: Reading

  /// Returns the account's cookies. Replaces a file of another account, and creates a missing file, so that the number
  /// of the jar is on the disk before a call uses it. Blocks the thread.
  ///
  /// - Throws: ``CredentialsStoreError``
  func load() throws -> SavedCookies {
    do {
      let folder = try openFolder()
      folder.removeDrafts(of: place.name)
      // Another round is needed only if another process has just created or removed the file.
      for _ in 0..<16 {
        let new = SavedCookies(number: CookieJar.newNumber())
        let present = try present(in: folder)
        if let record = present?.record, record.account == account { return record.cookies }
        if try write(new, in: folder, over: present) { return new }
      }
      throw Self.isBusy(place.name)
    } catch let error as FileError {
      throw CredentialsStoreError(error)
    }
  }

  private func openFolder() throws -> Folder {
    let folder = try place.makeFolder()
    try keys.check(apartFrom: place, in: folder)
    return folder
  }

  /// Returns the content of the file; `nil` if the file does not exist.
  private func present(in folder: Folder) throws -> Present? {
    guard let file = try folder.existing(place.name, for: .reading, isPrivate: true) else { return nil }
    let bytes = try file.bytes(upTo: Self.limit)
    if bytes.isEmpty { return Present() }
    guard let header = SealHeader(of: bytes) else { throw CredentialsStoreError(.unknownFormat, place.name) }
    let key = try keys.blockingKey(for: header, place.name)
    guard let content = header.opened(bytes, with: key) else {
      throw CredentialsStoreError(.wrongKeyOrDamaged, place.name)
    }
    guard let record = CookieRecord(content) else { throw CredentialsStoreError(.unknownFormat, place.name) }
    return Present(record: record, seal: Seal(header: header, key: key))
  }

  // MARK: Writing

  func save(_ jar: CookieJar) {
    guard shared.withLock({ $0.queue.change() }) else { return }
    // Detached, so that neither the end of a call nor its actor stops the write.
    Task.detached { self.saveAll(jar) }
  }

  func waitUntilSaved() async {
    guard let ticket = shared.withLock({ $0.wait() }) else { return }
    try? await withWaiter { continuation in
      shared.withLock { $0.waiters.suspend(ticket, continuation) }
    } onCancel: {
      cancel(ticket)
    }
  }

  private func cancel(_ ticket: SaveQueue.Ticket) {
    let cancelled = shared.withLock { shared in
      shared.queue.cancel(ticket)
      return shared.waiters.cancel(ticket)
    }
    if case .suspended(let continuation) = cancelled { continuation.resume(throwing: CancellationError()) }
  }

  /// Saves a jar until all changes are saved.
  private func saveAll(_ jar: CookieJar) {
    while shared.withLock({ $0.queue.begin() }) {
      let failure = failureOfReplacing(by: jar.saved)
      let resumptions = shared.withLock { shared in
        shared.failure = failure
        return shared.queue.end().compactMap { shared.waiters.resolve($0, with: ()) }
      }
      for resumption in resumptions { resumption.resume() }
    }
  }

  private func failureOfReplacing(by cookies: SavedCookies) -> CookieStorageFailure? {
    do {
      try replace(by: cookies)
      return nil
    } catch {
      return CookieStorageFailure(CredentialsStoreError(of: error, place.name))
    }
  }

  private func replace(by cookies: SavedCookies) throws {
    let folder = try openFolder()
    for _ in 0..<16 {
      // A file that cannot be read is not overwritten.
      let present = try present(in: folder)
      do {
        if try write(cookies, in: folder, over: present) { return }
      } catch {
        // A full disk must not keep the cookies of a session that has ended.
        guard cookies.isEmpty else { throw error }
        folder.remove(place.name)
        return try folder.sync()
      }
    }
    throw Self.isBusy(place.name)
  }

  /// The error if other processes keep creating and removing the file.
  private static func isBusy(_ name: String) -> FileError { FileError(.system(EAGAIN), "written", name) }

  /// Writes cookies to the file.
  ///
  /// - Parameter present: the file that is replaced; `nil`: the file must not exist.
  /// - Returns: whether the file was written.
  private func write(_ cookies: SavedCookies, in folder: Folder, over present: Present?) throws -> Bool {
    let seal = try present?.seal ?? keys.blockingSeal()
    let record = CookieRecord(cookies, ofAccountHash: account)
    let bytes = try seal.header.sealed(record.encoded(), with: seal.key)
    guard bytes.count <= Self.limit else { throw CredentialsStoreError(.tooLarge, place.name) }
    return try folder.publish(place.name, bytes, isNew: present == nil, dependencies.reached)
  }
}

extension CookieStorageFailure {
  fileprivate init(_ error: CredentialsStoreError) {
    let note: TraceNote =
      switch error.reason {
      case .unavailable: "cookies not saved: the file is unavailable, error"
      case .insecure: "cookies not saved: others can access the file"
      case .unreadable: "cookies not saved: the present file cannot be read"
      case .tooLarge: "cookies not saved: they are too large"
      case .misconfigured: "cookies not saved: the key has the path of the file"
      }
    self.init(error, note, Int64(error.errno ?? 0))
  }
}
