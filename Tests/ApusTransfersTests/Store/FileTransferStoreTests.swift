import Foundation
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Records of transfers in a folder")
struct FileTransferStoreTests {
  private func failureReason(_ work: () async throws -> Void) async -> TransferError.Problem? {
    do {
      try await work()
      return nil
    } catch {
      return (error as? TransferError)?.problem
    }
  }

  private func with(_ test: (FileTransferStore, String) async throws -> Void) async throws {
    try await DownloadBench.with { bench in
      try await test(FileTransferStore(bench.folder + "/a/b"), bench.folder + "/a/b")
    }
  }

  @Test("A record is written, read, listed and removed, and leaves no file in the folder")
  func record() async throws {
    try await with { store, path in
      #expect(try await store.names.isEmpty)
      let record = try await store.lock("a-1")
      #expect(try await record.read() == nil)
      try await record.write(Data("one".utf8))
      try await record.write(Data("two".utf8))
      #expect(try await record.read() == Data("two".utf8))
      #expect(try await store.names == ["a-1"])
      await record.release()
      let again = try await store.lock("a-1")
      #expect(try await again.read() == Data("two".utf8))
      try await again.write(nil)
      await again.release()
      #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }
  }

  @Test("A locked record is refused to other transfers until it is released")
  func lock() async throws {
    try await with { store, path in
      let first = try await store.lock("a")
      #expect(await failureReason { _ = try await FileTransferStore(path).lock("a") } == .inUse)
      let other = try await store.lock("b")
      await other.release()
      await first.release()
      let second = try await store.lock("a")
      await second.release()
    }
  }

  @Test("Listing records removes the leftovers of a process that died while creating or removing one")
  func remains() async throws {
    try await with { store, path in
      let (kept, held) = (try await store.lock("kept"), try await store.lock("held"))
      try await kept.write(Data("x".utf8))
      for file in ["dead.lock", "dead.json.new"] { try Data().write(to: URL(filePath: path + "/" + file)) }
      #expect(try await store.names == ["kept"])
      let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      #expect(files == ["held.lock", "kept.json", "kept.lock"])
      await kept.release()
      await held.release()
    }
  }

  @Test("Listing or locking records removes the leftovers of a process that died while replacing one")
  func drafts() async throws {
    try await with { store, path in
      for name in ["listed", "locked", "held"] {
        let record = try await store.lock(name)
        try await record.write(Data("x".utf8))
        await record.release()
      }
      func leave(_ names: [String]) throws {
        for name in names { try Data().write(to: URL(filePath: "\(path)/\(name).json.new")) }
      }
      func drafts() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".new") }.sorted()
      }
      let held = try await store.lock("held")
      // Versions before this one left drafts without a lock file.
      try leave(["listed", "gone", "held"])
      #expect(try await Set(store.names) == ["listed", "locked", "held"])
      // Another process may be writing this draft.
      #expect(try drafts() == ["held.json.new"])
      try leave(["locked"])
      let locked = try await store.lock("locked")
      #expect(try drafts() == ["held.json.new"])
      for record in [held, locked] {
        try await record.write(nil)
        await record.release()
      }
      _ = try await store.names
      #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["listed.json", "listed.lock"])
    }
  }

  @Test("Folders and files are accessible to their owner only, and a folder that others can access is refused")
  func privacy() async throws {
    try await with { store, path in
      let record = try await store.lock("a")
      try await record.write(Data("x".utf8))
      #expect(DownloadBench.mode(of: path) == 0o700)
      #expect(DownloadBench.mode(of: path + "/a.json") == 0o600)
      await record.release()
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
      #expect(await failureReason { _ = try await store.lock("a") } == .notAFile)
    }
  }

  @Test(
    "An invalid record name is refused",
    arguments: ["", "../a", "a/b", "a.b", "é", String(repeating: "a", count: 65)])
  func names(_ name: String) async throws {
    try await with { store, _ in
      #expect(await failureReason { _ = try await store.lock(name) } == .invalidPath)
    }
  }

  @Test("A link in place of a record is refused")
  func link() async throws {
    try await with { store, path in
      let record = try await store.lock("a")
      try FileManager.default.createSymbolicLink(atPath: path + "/a.json", withDestinationPath: "/etc/hostname")
      #expect(await failureReason { _ = try await record.read() } == .notAFile)
      await record.release()
    }
  }
}
