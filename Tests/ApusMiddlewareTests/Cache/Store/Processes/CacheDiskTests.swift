#if os(Linux)
import ApusFiles
import Foundation
import TestSupport
import Testing

@testable import ApusMiddleware

@Suite("Caches at the limits of the system")
struct CacheDiskTests {
  /// Starts a worker whose folder is on a small file system of its own.
  private func start(_ script: String, _ mode: String, _ bench: FolderBench) throws -> WorkerProcess {
    try FileManager.default.createDirectory(atPath: bench.path, withIntermediateDirectories: true)
    return try WorkerProcess(
      .cache, by: ["unshare", "-m"], script: #"mount -t tmpfs -o size=256k tmpfs "$2" && "# + script, mode, bench.path)
  }

  @Test(
    "On a full disk nothing is stored, and what is stored is found and can be invalidated",
    .enabled(if: SmallFileSystem.isAvailable, "this user may not mount a file system"))
  func full() async throws {
    try await FolderBench.with { bench in
      let process = try start(#"exec "$0" "$1" "$2/cache" "$2/other""#, "full", bench)
      #expect(try await process.line() == "before true full false true false")
      #expect(try await process.line() == "outdated false false")
      #expect(try await process.line() == "invalidated []")
      #expect(try await process.line() == "after true true")
    }
  }

  @Test(
    "On a read-only disk nothing is stored or removed, and what is stored is found",
    .enabled(if: SmallFileSystem.isAvailable, "this user may not mount a file system"))
  func readOnly() async throws {
    try await FolderBench.with { bench in
      let script = #""$0" "$1" "$2/cache" store && mount -o remount,ro "$2" && exec "$0" "$1" "$2/cache" use"#
      let process = try start(script, "readonly", bench)
      #expect(try await process.line() == "stored true true")
      #expect(try await process.line() == "found true true stored false")
      // The removal cannot be shared, but this process does not use the account's responses any more.
      #expect(try await process.line() == "found true false")
    }
  }

  @Test("Without free descriptors nothing is found or stored, and nothing is lost")
  func descriptors() async throws {
    try await FolderBench.with { bench in
      let process = try WorkerProcess(.cache, "descriptors", bench.path)
      #expect(try await process.line() == "stored true")
      #expect(try await process.line() == "found false stored false")
      #expect(try await process.line() == "found true stored true found true")
    }
  }

  @Test("Two processes that store at once stay below the capacity, and lose nothing that the other has")
  func processes() async throws {
    try await FolderBench.with { bench in
      let workers = try ["a", "b"].map { try WorkerProcess(.cache, "storing", bench.path, $0) }
      for worker in workers { #expect(try await worker.line() == "storing") }
      for _ in 0..<20 {
        let size = bench.entries.map { bench.bytes($0).count }.reduce(0, +)
        #expect(size <= 200_000)
        await Task.yield()
      }
      for worker in workers {
        try worker.resume()
        #expect(try await worker.line().hasPrefix("stored "))
      }
      let store = bench.store(capacity: 200_000)
      let size = bench.entries.map { bench.bytes($0).count }.reduce(0, +)
      #expect(await store.usage == Int64(size) && bench.names.count == bench.entries.count + 1)
      var found = 0
      for name in ["a", "b"] {
        for number in 0..<50 { found += await bench.texts(store, "/\(name)/\(number)").count }
      }
      #expect(found == bench.entries.count && found > 10)
    }
  }

  @Test("A folder of 10,000 entries is opened within 4 MB")
  func opening() async throws {
    try await FolderBench.with { bench in
      let store = bench.store(capacity: 1 << 30)
      await bench.put(store)
      let folder = try CacheFolder(bench.path, capacity: 1 << 30) { 0 }
      for number in 0..<9999 {
        let key = CacheKey(
          target: KeyedDigest(first: UInt64(number), second: 0), account: 1, session: KeyedDigest(first: 1, second: 1))
        _ = try folder.folder.make(EntryName.new(key).text(folder.format.nameKey))
      }
      let process = try WorkerProcess(.cache, "opening", bench.path)
      let words = try await process.line().split(separator: " ").compactMap { Int($0) }
      #expect(words.count == 3 && words[0] == 10_000)
      print("10,000 entries were opened in \(words[1]) ms and \(words[2]) KiB")
      #expect(words[2] <= 4096)
    }
  }
}
#endif
