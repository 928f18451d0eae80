#if DEBUG
import Foundation
import Synchronization

@testable import ApusMiddleware

/// The clock of a worker, which its steps move.
final class WorkerTime: Sendable {
  private let ahead = Mutex<Int64>(0)

  var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) + ahead.withLock { $0 } }

  func advance(_ milliseconds: Int64) {
    ahead.withLock { $0 += milliseconds }
  }
}

extension CacheWorker {
  func full(_ other: String) async {
    let isStored = await put("/before", size: 20_000)
    let file = open(other, O_WRONLY | O_CREAT, 0o600)
    let zeros = [UInt8](repeating: 0, count: 4096)
    while write(file, zeros, zeros.count) > 0 {}
    close(file)
    printLine(
      "before \(isStored) full \(await put("/full", size: 20_000)) \(await has("/before")) \(await has("/full"))")
    // What is outdated is removed, although the new response cannot be stored.
    printLine("outdated \(await put("/before", 2, size: 24_000)) \(await has("/before"))")
    await store.invalidate(groups: ["g"])
    printLine("invalidated \(await store.entries(for: key("/before", nil)).responses.map(\.isInvalidated))")
    unlink(other)
    printLine("after \(await put("/after", size: 20_000)) \(await has("/after"))")
  }

  func readOnly(_ part: String) async {
    guard part == "use" else {
      printLine("stored \(await put("/before")) \(await put("/account", account: 1))")
      return
    }
    let found = "found \(await has("/before")) \(await has("/account", account: 1))"
    printLine("\(found) stored \(await put("/after"))")
    await store.remove(account: 1)
    printLine("found \(await has("/before")) \(await has("/account", account: 1))")
  }

  func descriptors() async {
    printLine("stored \(await put("/before"))")
    var limit = rlimit()
    getrlimit(Self.openFiles, &limit)
    let usual = limit.rlim_cur
    limit.rlim_cur = 3
    setrlimit(Self.openFiles, &limit)
    printLine("found \(await has("/before")) stored \(await put("/after"))")
    limit.rlim_cur = usual
    setrlimit(Self.openFiles, &limit)
    printLine("found \(await has("/before")) stored \(await put("/after")) found \(await has("/after"))")
  }

  #if os(Linux)
  private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
  private static let openFiles = RLIMIT_NOFILE
  #endif

  func opening(_ path: String) {
    // What is used for the first time takes memory of its own.
    _ = try? CacheFolder(path + "/empty", capacity: 1 << 30, clock: { 0 })
    let before = Self.residentKilobytes
    let start = ContinuousClock.now
    guard let folder = try? CacheFolder(path, capacity: 1 << 30, clock: { 0 }) else { exit(1) }
    let elapsed = ContinuousClock.now - start
    let count = folder.state.withLock { $0.index.count }
    printLine("opened \(count) \(Int64(elapsed / .milliseconds(1))) \(Self.residentKilobytes - before)")
  }

  private static var residentKilobytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { $0.split { !$0.isNumber }.first.flatMap { Int($0) } } ?? 0
  }
}
#endif
