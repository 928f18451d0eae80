import ApusCore
import ApusFiles
import ApusMiddleware
import ApusTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Transfers that outlive the call", .timeLimit(.minutes(3)))
struct TransfersTests {
  private let film = FileOnServer(length: 300_000)

  // MARK: Completing

  @Test("A running download is listed, notifies the app when the file is complete, and leaves no record")
  func download() async throws {
    try await QueueBench.with { bench in
      let gate = Gate()
      bench.stub.onAny(reply: film.whole().waiting(for: gate))
      let transfers = try await bench.queue()
      let id = try await transfers.download(FilmFile(id: 7), to: bench.path(7), priority: .high)
      try await transfers.wait(id) { $0.isRunning }
      let listed = try #require(transfers.all.first)
      #expect((listed.id, listed.direction, listed.name) == (id, .download, "FilmFile"))
      #expect(listed.path == bench.path(7) && listed.priority == .high)
      #expect(listed.endpoint(as: FilmFile.self) == FilmFile(id: 7) && listed.endpoint(as: Clip.self) == nil)
      #expect(bench.records == ["transfer-\(id.rawValue).json"])
      gate.open()
      try await transfers.completion(of: id)
      #expect(bench.bench.bytes(bench.path(7)) == film.bytes)
      #expect(bench.completed == ["film 7 300000"])
      #expect(transfers.all.isEmpty && transfers[id] == nil && bench.records.isEmpty)
    }
  }

  @Test("The updates begin with the present list, include progress, and end when the queue is closed")
  func updates() async throws {
    try await QueueBench.with { bench in
      bench.stub.onAny(reply: film.whole().stalled(after: 100))
      let transfers = try await bench.queue()
      let lists = transfers.updates
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      var last: [Transfer] = []
      for await list in lists {
        last = list
        if list.first?.progress.completed == 100_000 { break }
      }
      #expect(last.first?.id == id && last.first?.progress.total == 300_000)
      let rest = Task { for await _ in transfers.updates {} }
      await transfers.close()
      await rest.value
      var none = 0
      for await _ in transfers.updates { none += 1 }
      #expect(none == 1)
    }
  }

  @Test("Adding a transfer again returns the existing transfer, and restarts it if it has failed")
  func again() async throws {
    try await QueueBench.with { bench in
      bench.stub.on(.get, "/films/7", replies: [.status(404), film.whole()])
      let transfers = try await bench.queue()
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      let error = await failure { try await transfers.completion(of: id) }
      #expect(error?.status == 404)
      #expect(transfers[id]?.state.failure?.status == 404)
      #expect(try await transfers.download(FilmFile(), to: bench.bench.folder + "/x/../film-7.mp4") == id)
      try await transfers.completion(of: id)
      #expect(bench.completed == ["film 7 300000"] && bench.stub.exchanges.count == 2)
    }
  }

  @Test("An endpoint may make calls to create its request at each start of the transfer")
  func presigned() async throws {
    struct Presigned: TransferEndpoint {
      let id: Int
      var downloadOptions: DownloadOptions { .once }
      func request(by client: Client) async throws -> Request<Content> {
        .get(.url(try await client.send(Request<String>.get("/link"))))
      }
    }
    try await QueueBench.with { bench in
      let urls = (1...2).map { "https://cdn.example/film?signature=\($0)" }
      bench.stub.on(.get, "/link", replies: urls.map { .text($0) })
      bench.stub.on(where: { request, _ in request.target.hasPrefix("/film?") }) { request in
        request.target.hasSuffix("1") ? film.whole().failing(after: 150) : film.reply(to: request.fields)
      }
      let transfers = try await bench.queue { $0.downloads(of: Presigned.self) }
      let id = try await transfers.download(Presigned(id: 1), to: bench.path(1))
      let error = await failure { try await transfers.completion(of: id) }
      #expect(error?.transfer?.keptBytes == 150_000)
      #expect(!bench.stored.contains("signature") && !bench.stored.contains("cdn"))
      try await transfers.resume(id)
      try await transfers.completion(of: id)
      #expect(bench.bench.bytes(bench.path(1)) == film.bytes)
      #expect(bench.stub.exchanges.last?.fields[.range] == "bytes=150000-")
    }
  }

  @Test("Adding a transfer that another queue released continues it from its record")
  func left() async throws {
    try await QueueBench.with { bench in
      let first = try await bench.queue()
      bench.stub.onAny(reply: .stalled)
      let id = try await first.download(FilmFile(), to: bench.path(7))
      try await first.pause(id)
      let second = try await bench.queue()
      #expect(second.all.isEmpty)
      await first.close()
      #expect(try await second.download(FilmFile(), to: bench.path(7)) == id)
      let isPaused = if case .paused? = second[id]?.state { true } else { false }
      #expect(isPaused)
      await second.close()
    }
  }

  @Test("A download whose folder is missing can be cancelled")
  func folderGone() async throws {
    try await QueueBench.with { bench in
      let (held, folder) = (Scheduler(), "\(bench.bench.folder)/drive")
      held.pauseAll()
      let transfers = try await bench.queue { $0.scheduler = held }
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let id = try await transfers.download(FilmFile(), to: "\(folder)/film.mp4")
      try FileManager.default.removeItem(atPath: folder)
      try await transfers.cancel(id)
      #expect(transfers.all.isEmpty && bench.records.isEmpty)
    }
  }

  @Test("A file renamed before its process ended is reported by the next process, without a request")
  func published() async throws {
    try await QueueBench.with { bench in
      bench.stub.onAny(reply: film.whole())
      let held = Scheduler()
      held.pauseAll()
      let transfers = try await bench.queue { $0.scheduler = held }
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      await transfers.close()
      // Writes the record of a process that ended after it renamed the file and before it reported the completion.
      let path = bench.store.path + "/transfer-\(id.rawValue).json"
      var record = try #require(bench.bench.bytes(path).flatMap { TransferRecord($0) })
      try film.bytes.write(to: URL(filePath: bench.path(7)))
      record.published = try FileVersion(of: .reading(bench.path(7)))
      try #require(record.encoded()).write(to: URL(filePath: path))
      let next = try await bench.queue()
      try await waitWhile(!next.all.isEmpty)
      #expect(bench.completed == ["film 7 300000"] && bench.stub.exchanges.isEmpty && bench.records.isEmpty)
    }
  }

  // MARK: Commands

  @Test("A paused transfer stops, keeps its bytes, stays paused in a new queue, and continues with the missing bytes")
  func pause() async throws {
    try await QueueBench.with { bench in
      bench.stub.on(.get, "/films/7", replies: [film.whole().stalled(after: 100), film.part(from: 100_000)])
      let transfers = try await bench.queue()
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      try await waitWhile(transfers[id]?.progress.completed != 100_000)
      try await transfers.pause(id)
      #expect(transfers[id]?.state.isPaused == true)
      #expect(try await bench.stub.waitUntilIdle().count == 1)
      await transfers.close()
      let next = try await bench.queue()
      #expect(next[id]?.state.isPaused == true)
      #expect(next[id]?.progress == TransferProgress(completed: 100_000, total: 300_000))
      try await next.resume(id)
      try await next.completion(of: id)
      #expect(bench.bench.bytes(bench.path(7)) == film.bytes)
      #expect(bench.stub.exchanges.last?.fields[.range] == "bytes=100000-")
    }
  }

  @Test("A cancelled transfer leaves no bytes and no records")
  func cancel() async throws {
    try await QueueBench.with { bench in
      bench.stub.onAny(reply: film.whole().stalled(after: 100))
      let transfers = try await bench.queue()
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      try await waitWhile(transfers[id]?.progress.completed != 100_000)
      async let completion = failure { () async throws in try await transfers.completion(of: id) }
      try await waitWhile(transfers.subscriberCount == 0)
      try await transfers.cancel(id)
      #expect(transfers.all.isEmpty && bench.records.isEmpty && bench.bench.names == ["state"])
      let error = await completion
      #expect(error?.isCancellation == true)
      #expect(bench.completed == [])
    }
  }

  @Test("A cancelled upload is removed from the server")
  func cancelUpload() async throws {
    try await QueueBench.with { bench in
      try film.bytes.write(to: URL(filePath: bench.path(1)))
      bench.stub.on(.post, "/files", reply: .status(201, fields: [.location: "/files/u1"]))
      let gate = Gate()
      bench.stub.on(.patch, "/files/u1", reply: StubReply.status(204).waiting(for: gate))
      bench.stub.on(.delete, "/files/u1", reply: .status(204))
      let transfers = try await bench.queue()
      let id = try await transfers.upload(Clip(path: bench.path(1)))
      try await bench.stub.waitForExchanges(2)
      #expect(bench.records.count == 2)
      try await transfers.cancel(id)
      #expect(bench.stub.exchanges.map(\.method) == [.post, .patch, .delete])
      #expect(bench.records.isEmpty && transfers.all.isEmpty)
    }
  }

  @Test("A transfer whose task the app cancels by its tag is paused")
  func cancelledByTag() async throws {
    try await QueueBench.with { bench in
      bench.stub.onAny(reply: film.whole().stalled(after: 100))
      let api = bench.bench.api
      let transfers = try await bench.queue(api: api)
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      try await waitWhile(transfers[id]?.progress.completed != 100_000)
      #expect(api.calls.cancelAll() == 1)
      try await transfers.wait(id) { $0.isPaused }
    }
  }

  @Test("Commands on unknown transfers and closed queues are refused")
  func refused() async throws {
    try await QueueBench.with { bench in
      let transfers = try await bench.queue()
      let unknown = Transfer.ID(rawValue: "0123")
      #expect(await failure { try await transfers.pause(unknown) }?.transfer?.problem == .unknownTransfer)
      #expect(await failure { try await transfers.completion(of: unknown) }?.transfer?.problem == .unknownTransfer)
      await transfers.close()
      let closed = await failure { try await transfers.resume(unknown) }
      #expect(closed?.code == .refused && closed?.transfer?.problem == .closed)
      let added = await failure { try await transfers.download(FilmFile(), to: bench.path(7)) }
      #expect(added?.transfer?.problem == .closed && bench.records.isEmpty)
    }
  }

  @Test("An undeclared endpoint type is refused, and a stored transfer of such a type fails but is not lost")
  func undeclared() async throws {
    struct Other: Endpoint, TransferEndpoint {
      var request: Request<Content> { .get("/other") }
    }
    try await QueueBench.with { bench in
      bench.stub.onAny(reply: film.whole().stalled(after: 100))
      let transfers = try await bench.queue()
      let refused = await failure { try await transfers.download(Other(), to: bench.path(1)) }
      #expect(refused?.transfer?.problem == .unusableEndpoint)
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      try await waitWhile(transfers[id]?.progress.completed != 100_000)
      await transfers.close()
      let without = try await Transfers(bench.bench.api, store: bench.store) { _ in }
      try await without.wait(id) { $0.failure?.transfer?.problem == .unusableEndpoint }
      await without.close()
      #expect(bench.records.count == 1)
      let last = try await Transfers(bench.bench.api, store: bench.store) { _ in }
      #expect(last[id]?.state.failure?.code == .refused)
      try await last.cancel(id)
      #expect(bench.records.isEmpty && bench.bench.names == ["state"])
    }
  }

  // MARK: The queue

  @Test("At most as many transfers run as the scheduler permits, and higher priorities run first")
  func limits() async throws {
    try await QueueBench.with { bench in
      let gate = Gate()
      let mostOpen = Mutex(0)
      bench.stub.on(where: { _, _ in true }) { [stub = bench.stub] _ in
        mostOpen.withLock { $0 = max($0, stub.openExchanges.count) }
        return film.whole().waiting(for: gate)
      }
      let scheduler = Scheduler(ConcurrencyLimits(global: 2, perOrigin: 2))
      let transfers = try await bench.queue { $0.scheduler = scheduler }
      var ids: [Transfer.ID] = []
      for film in 1...5 { ids.append(try await transfers.download(FilmFile(id: film), to: bench.path(film))) }
      try await bench.stub.waitForExchanges(2)
      #expect(transfers.all.map(\.id) == ids)
      #expect(transfers.all.map(\.state.isRunning) == [true, true, false, false, false])
      transfers.setPriority(.immediate, of: ids[4])
      try await waitWhile(bench.priority(of: ids[4]) != CallPriority.immediate.level || scheduler.queuedCount != 3)
      gate.release()
      try await bench.stub.waitForExchanges(3)
      #expect(bench.stub.exchanges.last?.target == "/films/5")
      gate.open()
      for id in ids where transfers[id] != nil { try? await transfers.completion(of: id) }
      try await waitWhile(!transfers.all.isEmpty)
      #expect(bench.completed.count == 5)
      #expect(mostOpen.withLock(\.self) == 2)
    }
  }

  @Test("Transfers of an earlier process are queued in the order in which they were added")
  func order() async throws {
    try await QueueBench.with { bench in
      bench.stub.on(where: { _, _ in true }) { _ in film.whole() }
      let held = Scheduler()
      held.pauseAll()
      let first = try await bench.queue { $0.scheduler = held }
      for film in 1...8 {
        try await first.download(FilmFile(id: film), to: bench.path(film))
      }
      await first.close()
      #expect(bench.stub.exchanges.isEmpty && bench.records.count == 8)
      let next = try await bench.queue { $0.scheduler = Scheduler(ConcurrencyLimits(global: 1, perOrigin: 1)) }
      try await waitWhile(!next.all.isEmpty)
      #expect(bench.stub.exchanges.map(\.target) == (1...8).map { "/films/\($0)" })
    }
  }

  @Test("A transfer that waits for a permit has no timeout")
  func noTimeoutInLine() async throws {
    try await QueueBench.with { bench in
      bench.stub.onAny(reply: film.whole())
      let (scheduler, clock) = (Scheduler(), ManualClock(.manual))
      scheduler.pause("films")
      var settings = ClientSettings()
      settings.runtime.clock = clock
      let environment = Environment(baseURL: "https://films.example")
      let api = Client(environment: environment, transport: bench.stub, settings: settings)
      let transfers = try await bench.queue(api: api) {
        $0.scheduler = scheduler
        $0.tag = "films"
      }
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      try await waitWhile(scheduler.queuedCount != 1)
      clock.advance(by: .seconds(100_000))
      #expect(transfers[id]?.state.isWaiting == true && bench.stub.exchanges.isEmpty)
      scheduler.resume("films")
      try await transfers.completion(of: id)
      #expect(scheduler.queuedCount == 0 && scheduler.runningCount == 0)
    }
  }

  @Test("Pausing, cancelling and closing remove a queued transfer from the scheduler")
  func leavingTheLine() async throws {
    try await QueueBench.with { bench in
      let scheduler = Scheduler()
      scheduler.pauseAll()
      let transfers = try await bench.queue { $0.scheduler = scheduler }
      var ids: [Transfer.ID] = []
      for film in 1...3 { ids.append(try await transfers.download(FilmFile(id: film), to: bench.path(film))) }
      try await waitWhile(scheduler.queuedCount != 3)
      try await transfers.pause(ids[0])
      #expect(scheduler.queuedCount == 2)
      try await transfers.cancel(ids[1])
      #expect(scheduler.queuedCount == 1 && bench.records.count == 2)
      await transfers.close()
      #expect(scheduler.queuedCount == 0 && bench.records.count == 2 && bench.stub.exchanges.isEmpty)
    }
  }

  @Test("Adding a transfer from several tasks creates it once")
  func concurrentAdds() async throws {
    try await QueueBench.with { bench in
      let gate = Gate()
      bench.stub.onAny(reply: film.whole().waiting(for: gate))
      let transfers = try await bench.queue()
      let ids = try await withThrowingTaskGroup(of: Transfer.ID.self) { group in
        for _ in 0..<20 { group.addTask { try await transfers.download(FilmFile(), to: bench.path(7)) } }
        return try await group.reduce(into: Set<Transfer.ID>()) { $0.insert($1) }
      }
      #expect(ids.count == 1 && transfers.all.count == 1)
      gate.open()
      try await waitWhile(!transfers.all.isEmpty)
      #expect(bench.completed == ["film 7 300000"])
    }
  }

  @Test("The completion closure may send commands to its own complete transfer, and add other transfers")
  func commandsInClosure() async throws {
    try await QueueBench.with { bench in
      bench.stub.on(where: { _, _ in true }) { _ in film.whole() }
      let queue = Mutex<Transfers?>(nil)
      let transfers = try await bench.queue { configuration in
        configuration.downloads(of: FilmFile.self) { film, _ in
          guard film.id < 3, let transfers = queue.withLock({ $0 }), let own = transfers.all.first else { return }
          try? await transfers.pause(own.id)
          try? await transfers.cancel(own.id)
          _ = try? await transfers.download(FilmFile(id: film.id + 1), to: bench.path(film.id + 1))
        }
      }
      queue.withLock { $0 = transfers }
      let id = try await transfers.download(FilmFile(id: 1), to: bench.path(1))
      try? await transfers.completion(of: id)
      try await waitWhile(!transfers.all.isEmpty)
      #expect((1...3).allSatisfy { bench.bench.bytes(bench.path($0)) == self.film.bytes })
      queue.withLock { $0 = nil }
    }
  }

  @Test("Two queues never have the same transfer at the same time")
  func twoQueues() async throws {
    try await QueueBench.with { bench in
      bench.stub.onAny(reply: film.whole().stalled(after: 1))
      let first = try await bench.queue()
      let id = try await first.download(FilmFile(), to: bench.path(7))
      let second = try await bench.queue()
      #expect(second.all.isEmpty)
      let error = await failure { try await second.download(FilmFile(), to: bench.path(7)) }
      #expect(error?.code == .refused && error?.transfer?.problem == .inUse)
      await first.close()
      #expect(try await second.download(FilmFile(), to: bench.path(7)) == id)
      await second.close()
    }
  }
}

extension QueueBench {
  /// Returns the priority in the record of a transfer.
  fileprivate func priority(of id: Transfer.ID) -> Int? {
    bench.bytes(store.path + "/transfer-\(id.rawValue).json").flatMap { TransferRecord($0) }?.priority
  }
}
