// The stores of the cache are internal, so this program exists in debug builds only.
#if DEBUG
import ApusCore
import Foundation
import HTTPTypes
import Synchronization

@testable import ApusMiddleware

/// A process that stores responses in a folder for a test, which may kill the process at any time.
///
///     CacheWorker steps FOLDER         changes the folder in all ways, and prints the name of each completed step
///     CacheWorker storing FOLDER NAME  stores responses until its input has a line or ends, and prints their number
///     CacheWorker full FOLDER OTHER    fills the disk with the file OTHER, stores, removes OTHER, and stores again
///     CacheWorker readonly FOLDER PART stores if PART is `store`, or uses the folder, which is read-only, if it is `use`
///     CacheWorker descriptors FOLDER   uses the folder while the process may open no more files
///     CacheWorker opening FOLDER       opens the folder, and prints milliseconds, and the growth in KiB
@main
struct CacheWorker: Sendable {
  let store: FolderStore
  let time: WorkerTime

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 2 else { exit(2) }
    let time = WorkerTime()
    let store = FolderStore(arguments[1], capacity: Self.capacity) { time.now }
    let worker = CacheWorker(store: store, time: time)
    switch arguments[0] {
    case "steps": try await worker.steps()
    case "storing": await worker.storing(arguments[2])
    case "full": await worker.full(arguments[2])
    case "readonly": await worker.readOnly(arguments[2])
    case "descriptors": await worker.descriptors()
    case "opening": worker.opening(arguments[1])
    default: exit(2)
    }
  }

  static let capacity: Int64 = 200_000

  // MARK: Storing

  /// Returns content that names its target and version in every part.
  static func content(_ path: String, _ version: Int, _ size: Int) -> Data {
    let word = "\(path) \(version);"
    return Data(String(repeating: word, count: size / word.utf8.count).utf8)
  }

  func key(_ path: String, _ account: UInt64?) async -> CacheKey {
    let subjects = await store.subjects() ?? CacheSubjects(key: DigestKey(first: 0, second: 0))
    return CacheKey(
      target: subjects.target(path, at: Self.origin), account: account, session: KeyedDigest(first: 0, second: 0))
  }

  /// Prints a line at once: the process may be killed.
  func printLine(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
  }

  static let origin = Origin(scheme: "https", host: "a.example", port: 443)

  func response(_ version: Int) -> StoredResponse {
    let head = HTTPResponse(status: .ok, headerFields: [.eTag: "\"\(version)\""])
    let instant = CacheInstant(wall: time.now)
    let exchange = CacheExchange(requestTime: instant, responseTime: instant, generation: store.begin())
    defer { store.end() }
    let request = HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/")
    var response = StoredResponse(head, to: CacheRequest(request), during: exchange)
    response.endpointGroups = ["g"]
    return response
  }

  @discardableResult
  func put(_ path: String, _ version: Int = 1, account: UInt64? = nil, size: Int = 1000) async -> Bool {
    let key = await key(path, account)
    var update = CacheUpdate(new: response(version))
    update.outdated = Set(await store.entries(for: key).responses.map(\.id))
    return await store.apply(update, content: Self.content(path, version, size), under: key, at: Self.origin)
  }

  /// Whether a whole response is found.
  func has(_ path: String, account: UInt64? = nil) async -> Bool {
    let entries = await store.entries(for: key(path, account))
    guard let id = entries.responses.first?.id else { return false }
    return await store.content(of: id, in: entries) != nil
  }

  // MARK: Steps

  private func steps() async throws {
    await put("/a")
    printLine("a")
    await put("/b", account: 1)
    await put("/c", account: 2)
    printLine("accounts")
    await put("/d", size: 20_000)
    printLine("d")
    await put("/a", 2)
    printLine("replaced")
    try await freshen("/c", 2, account: 2)
    printLine("freshened")
    time.advance(100_000)
    for response in await store.entries(for: key("/c", 2)).responses { store.used(response.id) }
    await store.invalidate(CacheInvalidation(Self.origin, targets: ["/d"]))
    printLine("target")
    await store.invalidate(groups: ["g"])
    printLine("group")
    await put("/e")
    printLine("e")
    await store.remove(account: 1)
    printLine("account")
    for number in 0..<12 { await put("/\(number)", size: 20_000) }
    printLine("evicted")
    await store.removeAll()
    printLine("removed")
    await put("/f")
    printLine("close")
  }

  private func freshen(_ path: String, _ version: Int, account: UInt64?) async throws {
    let key = await key(path, account)
    var fresh = response(version)
    guard let id = await store.entries(for: key).responses.first?.id else { return }
    fresh.id = id
    _ = await store.apply(CacheUpdate(freshened: [fresh]), content: nil, under: key, at: Self.origin)
  }

  private func storing(_ name: String) async {
    let end = Task.detached { _ = readLine() }
    let ended = WorkerTime()
    Task {
      await end.value
      ended.advance(.max / 2)
    }
    var number = 0
    while ended.now < .max / 2 {
      await put("/\(name)/\(number % 50)", number, size: 10_000)
      number += 1
      if number == 20 { printLine("storing") }
    }
    printLine("stored \(number)")
  }
}
#else
@main
struct CacheWorker {
  static func main() {}
}
#endif
