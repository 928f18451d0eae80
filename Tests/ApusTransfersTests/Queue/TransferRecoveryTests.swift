import ApusCore
import ApusFiles
import ApusMiddleware
import ApusTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Queued transfers after conflicts and damage", .timeLimit(.minutes(3)))
struct TransferRecoveryTests {
  private let film = FileOnServer(length: 300_000)

  @Test("Another file of the same size and with the download's name is never reported as the download")
  func foreignFile() async throws {
    try await QueueBench.with { bench in
      // The file has no validator, so the two files differ in their bytes only.
      var film = film
      film.tag = nil
      let gate = Gate()
      bench.stub.on(where: { _, _ in true }) { [film] in film.reply(to: $0.fields).waiting(for: gate) }
      let transfers = try await bench.queue()
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      try await bench.stub.waitForExchanges(1)
      let foreign = FileOnServer(length: 300_000, seed: 9).bytes
      try foreign.write(to: URL(filePath: bench.path(7)))
      gate.open()
      for _ in 0..<2 {
        let error = await failure { try await transfers.completion(of: id) }
        #expect(error?.transfer?.problem == .fileExists)
        try await transfers.resume(id)
      }
      _ = await failure { try await transfers.completion(of: id) }
      await transfers.close()
      #expect(bench.completed == [] && bench.bench.bytes(bench.path(7)) == foreign)
      try FileManager.default.removeItem(atPath: bench.path(7))
      let next = try await bench.queue()
      try await next.resume(id)
      try await next.completion(of: id)
      #expect(bench.completed == ["film 7 300000"] && bench.bench.bytes(bench.path(7)) == film.bytes)
    }
  }

  @Test("A complete file in a temporarily missing folder is reported when the folder is back, without a request")
  func folderAway() async throws {
    try await QueueBench.with { bench in
      let (held, files) = (Scheduler(), FileManager.default)
      held.pauseAll()
      let (drive, away) = ("\(bench.bench.folder)/drive", "\(bench.bench.folder)/away")
      try files.createDirectory(atPath: drive, withIntermediateDirectories: false)
      let transfers = try await bench.queue { $0.scheduler = held }
      let id = try await transfers.download(FilmFile(), to: "\(drive)/film.mp4")
      await transfers.close()
      // Writes the record of a process that ended after it renamed the file and before it reported the completion.
      let path = bench.store.path + "/transfer-\(id.rawValue).json"
      var record = try #require(bench.bench.bytes(path).flatMap { TransferRecord($0) })
      try film.bytes.write(to: URL(filePath: "\(drive)/film.mp4"))
      record.published = try FileVersion(of: .reading("\(drive)/film.mp4"))
      try #require(record.encoded()).write(to: URL(filePath: path))
      try files.moveItem(atPath: drive, toPath: away)
      let next = try await bench.queue()
      #expect(try await next.outcome(of: id)?.transfer?.problem == .folderMissing)
      try files.moveItem(atPath: away, toPath: drive)
      try await next.resume(id)
      #expect(try await next.outcome(of: id) == nil)
      #expect(bench.completed == ["film 7 300000"] && bench.stub.exchanges.isEmpty)
    }
  }

  @Test("Adding a transfer that is being cancelled waits for its removal, and then creates a new transfer")
  func addingWhileCancelled() async throws {
    try await QueueBench.with { bench in
      try film.bytes.write(to: URL(filePath: bench.path(1)))
      bench.stub.on(.post, "/files", reply: .status(201, fields: [.location: "/files/u1"]))
      let (sending, removing) = (Gate(), Gate())
      bench.stub.on(.patch, "/files/u1", reply: StubReply.status(204).waiting(for: sending))
      bench.stub.on(.delete, "/files/u1", reply: StubReply.status(204).waiting(for: removing))
      let transfers = try await bench.queue()
      let clip = Clip(path: bench.path(1))
      let id = try await transfers.upload(clip)
      try await bench.stub.waitForExchanges(2)
      async let cancelled: Void = transfers.cancel(id)
      try await bench.stub.waitForExchanges(3)
      async let again = transfers.upload(clip)
      removing.open()
      try await cancelled
      #expect(try await again == id && transfers[id] != nil)
      try await bench.stub.waitForExchanges(5)
      #expect(bench.stub.exchanges.map(\.method) == [.post, .patch, .delete, .post, .patch])
      await transfers.close()
    }
  }

  @Test("Unreadable records do not prevent the queue from continuing other transfers")
  func unreadableRecords() async throws {
    try await QueueBench.with { bench in
      let held = Scheduler()
      held.pauseAll()
      let transfers = try await bench.queue { $0.scheduler = held }
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      await transfers.close()
      let (path, files) = (bench.store.path, FileManager.default)
      try files.createDirectory(atPath: path + "/transfer-folder.json", withIntermediateDirectories: false)
      try files.createSymbolicLink(atPath: path + "/transfer-link.json", withDestinationPath: "/etc/hostname")
      try files.createDirectory(atPath: path + "/transfer-locked.lock", withIntermediateDirectories: false)
      try Data("{}".utf8).write(to: URL(filePath: path + "/transfer-locked.json"))
      let next = try await bench.queue { $0.scheduler = held }
      #expect(next.all.map(\.id) == [id])
      #expect(
        next.unusableRecords.mapValues(\.problem) == [
          "transfer-folder": .notAFile, "transfer-link": .notAFile, "transfer-locked": .notAFile,
        ])
      await next.close()
      #expect(bench.records.count == 4)
    }
  }
}
