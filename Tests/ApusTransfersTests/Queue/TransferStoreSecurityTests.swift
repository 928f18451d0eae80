import ApusCore
import ApusMiddleware
import ApusTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Stored transfers: accounts and secrets", .timeLimit(.minutes(3)))
struct TransferStoreSecurityTests {
  private let film = FileOnServer(length: 300_000)

  @Test("Another account's transfers are not listed and not continued, and commands cannot change them")
  func otherAccount() async throws {
    try await QueueBench.with { bench in
      bench.stub.onAny(reply: film.whole().stalled(after: 100))
      let ada = try await bench.queue(account: "ada")
      let id = try await ada.download(FilmFile(), to: bench.path(7))
      try await waitWhile(ada[id]?.progress.completed != 100_000)
      await ada.close()
      let bob = try await bench.queue(account: "bob")
      #expect(bob.all.isEmpty)
      for command in [bob.pause, bob.resume, bob.cancel] {
        #expect(await failure { try await command(id) }?.transfer?.problem == .unknownTransfer)
      }
      let nobody = try await bench.queue()
      #expect(nobody.all.isEmpty && bench.stub.exchanges.count == 1)
      // The same file for another account is another transfer, which starts without bytes.
      bench.stub.onAny(reply: film.whole())
      let own = try await bob.download(FilmFile(), to: bench.path(7))
      #expect(own != id)
      try await bob.completion(of: own)
      #expect(bench.stub.exchanges.last?.fields[.range] == nil)
      let back = try await bench.queue(account: "ada")
      #expect(back[id] != nil)
      await back.close()
    }
  }

  @Test("A queue without an account is refused if its client has credentials")
  func accountMissing() async throws {
    try await QueueBench.with { bench in
      let anonymous = try await bench.queue()
      await anonymous.close()
      var environment = Environment(baseURL: "https://films.example")
      environment.values[CallBinderKey.self] = { _, _ in 1 }
      let api = Client(environment: environment, transport: bench.stub)
      let error = await failure { try await bench.queue(api: api) }
      #expect(error?.code == .invalidRequest && error?.transfer?.problem == .accountMissing)
      #expect(error?.description.contains("the queue of transfers has no account; set `account`") == true)
      let named = try await bench.queue(account: "ada", api: api)
      await named.close()
    }
  }

  @Test("A transfer is not sent with the credentials of another user who has signed in meanwhile")
  func principal() async throws {
    try await QueueBench.with { bench in
      let account = Mutex<UInt64>(1)
      let bind: CallBinderKey.Binder = { _, _ in account.withLock { $0 } }
      var environment = Environment(baseURL: "https://films.example")
      environment.values[CallBinderKey.self] = bind
      var settings = ClientSettings()
      settings.runtime.random = { 0 }
      let api = Client(environment: environment, transport: bench.stub, settings: settings)
      bench.stub.onAny(reply: film.whole())
      let transfers = try await bench.queue(account: "ada", api: api)
      try await transfers.completion(of: transfers.download(FilmFile(id: 1), to: bench.path(1)))
      account.withLock { $0 = 2 }
      let id = try await transfers.download(FilmFile(id: 2), to: bench.path(2))
      let error = await failure { try await transfers.completion(of: id) }
      #expect(error?.code == .refused && bench.stub.exchanges.count == 1)
      // An upload whose connection is lost meanwhile does not continue with the other user's credentials, either.
      try film.bytes.write(to: URL(filePath: bench.path(3)))
      bench.stub.on(where: { request, _ in request.head.method == .post }) { _ in
        account.withLock { $0 += 1 }
        return .status(201, fields: [.location: "/files/u1"])
      }
      let clip = Clip(path: bench.path(3))
      let upload = await failure { try await api.upload(clip, by: .tus()) }
      #expect(upload?.code == .refused && bench.stub.exchanges.last?.method == .post)
    }
  }

  @Test("Temporarily unreadable credentials are not treated as those of another account")
  func unreadable() async throws {
    try await QueueBench.with { bench in
      let account = Mutex<UInt64>(CallBinderKey.unreadable)
      let bind: CallBinderKey.Binder = { _, _ in account.withLock { $0 } }
      var environment = Environment(baseURL: "https://films.example")
      environment.values[CallBinderKey.self] = bind
      let api = Client(environment: environment, transport: bench.stub)
      bench.stub.onAny(reply: film.whole())
      let transfers = try await bench.queue(account: "ada", api: api)
      try await transfers.completion(of: transfers.download(FilmFile(id: 1), to: bench.path(1)))
      account.withLock { $0 = 1 }
      try await transfers.completion(of: transfers.download(FilmFile(id: 2), to: bench.path(2)))
      #expect(bench.stub.exchanges.count == 2)
    }
  }

  @Test("The store contains no URL, field, credential or account name, and only its owner can read it")
  func secrets() async throws {
    try await QueueBench.with { bench in
      try film.bytes.write(to: URL(filePath: bench.path(1)))
      bench.stub.on(.get, "/v1/films/7", reply: film.whole().stalled(after: 100))
      bench.stub.on(.post, "/v1/files", reply: .status(201, fields: [.location: "/v1/files/u1"]))
      let gate = Gate()
      bench.stub.on(.patch, "/v1/files/u1", reply: StubReply.status(204).waiting(for: gate))
      var environment = Environment(baseURL: "https://films.example/v1?key=s3cret-query")
      environment.setField("X-Api-Key", "s3cret-field", isSensitive: true)
      let api = Client(environment: environment, transport: bench.stub)
      let transfers = try await bench.queue(account: "ada@secret.example", api: api)
      try await transfers.download(FilmFile(), to: bench.path(7))
      try await transfers.upload(Clip(path: bench.path(1)))
      try await bench.stub.waitForExchanges(3)
      try await waitWhile(transfers.all.first?.progress.completed != 100_000)
      await transfers.close()
      #expect(bench.records.count == 3)
      for secret in ["s3cret", "secret.example", "ada", "key=", "X-Api-Key"] {
        #expect(!bench.stored.contains(secret), "\(secret)")
      }
      #expect(DownloadBench.mode(of: bench.store.path) == 0o700)
      let names = try FileManager.default.contentsOfDirectory(atPath: bench.store.path)
      #expect(names.allSatisfy { DownloadBench.mode(of: bench.store.path + "/" + $0) == 0o600 })
    }
  }

  @Test("A damaged record, a record of another version and a misnamed record stay unchanged")
  func damaged() async throws {
    try await QueueBench.with { bench in
      let held = Scheduler()
      held.pauseAll()
      let transfers = try await bench.queue { $0.scheduler = held }
      let id = try await transfers.download(FilmFile(), to: bench.path(7))
      await transfers.close()
      let record = try #require(bench.bench.bytes(bench.store.path + "/transfer-\(id.rawValue).json"))
      let text = String(decoding: record, as: UTF8.self)
      for (name, content) in [
        ("damaged", "{"), ("version", text.replacing(#""version":1"#, with: #""version":9"#)), ("renamed", text),
      ] {
        try Data(content.utf8).write(to: URL(filePath: bench.store.path + "/transfer-\(name).json"))
      }
      let next = try await bench.queue { $0.scheduler = held }
      #expect(next.all.map(\.id) == [id])
      #expect(next.unusableRecords.keys.sorted() == ["transfer-damaged", "transfer-renamed", "transfer-version"])
      #expect(next.unusableRecords.values.allSatisfy { $0.problem == .unusableEndpoint })
      await next.close()
      #expect(bench.records.count == 4)
    }
  }

  @Test("A store that cannot be written is refused, and no request is sent")
  func unusableStore() async throws {
    try await QueueBench.with { bench in
      try FileManager.default.createDirectory(
        atPath: bench.store.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
      let error = await failure { try await bench.queue() }
      #expect(error?.code == .refused && error?.transfer?.problem == .notAFile)
    }
  }

  @Test("An endpoint that is too large for the store is refused, and not added to the queue")
  func tooLarge() async throws {
    try await QueueBench.with { bench in
      let transfers = try await bench.queue()
      let clip = Clip(path: String(repeating: "x", count: 70_000))
      let error = await failure { try await transfers.upload(clip) }
      #expect(error?.transfer?.problem == .unusableEndpoint)
      #expect(transfers.all.isEmpty && bench.records.isEmpty)
    }
  }
}
