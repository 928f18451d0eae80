import ApusCore
import ApusTestServer
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

/// An upload protocol like those of object stores. It sends numbered parts of one size and gets a receipt for each
/// part. Its last request lists the receipts.
private struct PartsUpload: UploadDriver {
  static let partSize: Int64 = 40_000

  var maximumParallelParts = 1
  let name = "parts"
  let restartsWhenGone = true

  func create(
    _ calls: UploadCalls, announce: @escaping @Sendable (UploadTicket) -> Void
  ) async throws(CallError) -> UploadStep {
    let response = try await calls.send(calls.withoutContent().query(["uploads": ""]))
    var ticket = UploadTicket(location: String(decoding: response.value.data, as: UTF8.self))
    ticket.partSize = Self.partSize
    return .created(ticket, StoredParts())
  }

  func locate(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep {
    let response = try await calls.send(calls.request(.get, to: url(ticket, calls)))
    var parts = StoredParts()
    for line in String(decoding: response.value.data, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      guard let number = Int64(words[0]), parts.insert(.init(range(number, calls), receipt: String(words[1]))) else {
        return .fail(.unusableOffset)
      }
    }
    return .stored(parts)
  }

  func send(_ part: Range<Int64>, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep {
    let number = part.lowerBound / Self.partSize
    let target = "\(url(ticket, calls))&part=\(number)"
    let response = try await calls.send(
      calls.request(.put, to: target, part: part), reportingFrom: part.lowerBound)
    return .added(.init(part, receipt: response.fields[.eTag]))
  }

  func finish(_ parts: StoredParts, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep
  {
    let list = parts.parts.compactMap(\.receipt).joined(separator: ",")
    var request = calls.request(.post, to: url(ticket, calls))
    request.content = .text(list)
    return .complete(try await calls.send(request))
  }

  func cancel(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) {
    _ = try await calls.send(calls.request(.delete, to: url(ticket, calls)))
  }

  private func url(_ ticket: UploadTicket, _ calls: UploadCalls) -> String {
    "\(calls.message.url)?id=\(ticket.location)"
  }

  private func range(_ number: Int64, _ calls: UploadCalls) -> Range<Int64> {
    let start = number * Self.partSize
    return start..<min(start + Self.partSize, calls.length)
  }
}

/// An object store that receives one object in parts.
private final class PartsServer: Sendable {
  private let stored: Mutex<[Int: String]>
  private let list = Mutex("")
  /// The number of the request that is rejected temporarily.
  private let rejected: Int?
  /// The number of the request that is rejected permanently.
  private let refused: Int?

  init(_ stored: [Int: String] = [:], rejecting rejected: Int? = nil, refusing refused: Int? = nil) {
    self.stored = Mutex(stored)
    (self.rejected, self.refused) = (rejected, refused)
  }

  /// The receipts with which the object was completed.
  var completion: String { list.withLock { $0 } }

  func reply(to request: RecordedRequest) -> Reply {
    switch request.method {
    case _ where request.number == rejected: return .status(503)
    case _ where request.number == refused: return .status(403)
    case "POST" where request.query == "uploads=": return .text("u1")
    case "GET":
      let lines = stored.withLock { $0.sorted { $0.key > $1.key }.map { "\($0.key) \($0.value)" } }
      return .text(lines.joined(separator: "\n"))
    case "PUT":
      let number = request.target.split(separator: "=").last.flatMap { Int($0) } ?? -1
      stored.withLock { $0[number] = "tag-\(number)" }
      return .status(200, fields: ["ETag": "tag-\(number)"])
    case "POST":
      list.withLock { $0 = request.text }
      return .json(#"{"size":100000}"#)
    case "DELETE": return .status(204)
    default: return .status(405)
    }
  }
}

@Suite("The interface for upload protocols")
struct UploadDriverTests {
  private func with(
    _ objects: PartsServer, faults: [Fault] = [],
    _ test: (UploadBench, TestServer, Request<StoredFilm>) async throws -> Void
  ) async throws {
    try await TestServer.with(options: TestServer.Options(faults: faults)) {
      objects.reply(to: $0)
    } body: { server in
      try await UploadBench.with(server) { bench in
        try bench.write(100_000)
        try await test(bench, server, .post("/films/7", content: .file(bench.path)))
      }
    }
  }

  @Test(
    "A protocol with numbered parts and receipts sends each part once, and lists the server's parts only at its start")
  func parts() async throws {
    let objects = PartsServer()
    try await with(objects) { bench, server, film in
      let result = try await bench.api.upload(film, by: UploadProtocol(PartsUpload()), options: bench.options)
      #expect(result.value.size == 100_000 && objects.completion == "tag-0,tag-1,tag-2")
      #expect(server.exchanges.map(\.method) == ["POST", "PUT", "PUT", "PUT", "POST"])
      #expect(server.exchanges.dropFirst().dropLast().map(\.contentLength) == [40_000, 40_000, 20_000])
      #expect(bench.records.isEmpty)
    }
  }

  @Test(
    "After an interruption the missing parts are sent, regardless of the order of the server's list of stored parts")
  func gaps() async throws {
    let objects = PartsServer([2: "tag-2"], rejecting: 1)
    try await with(objects) { bench, server, film in
      let result = try await bench.api.upload(film, by: UploadProtocol(PartsUpload()), options: bench.options)
      #expect(result.value.size == 100_000 && objects.completion == "tag-0,tag-1,tag-2")
      #expect(server.exchanges.map(\.method) == ["POST", "PUT", "GET", "PUT", "PUT", "POST"])
      #expect(server.exchanges.filter { $0.method == "PUT" }.suffix(2).map(\.contentLength) == [40_000, 40_000])
      #expect(bench.records.isEmpty)
    }
  }

  @Test("A part whose connection is lost is resent completely")
  func replayed() async throws {
    let objects = PartsServer()
    let fault = Fault(at: .requestContent(after: 1000), .reset, on: .request(1))
    try await with(objects, faults: [fault]) { bench, server, film in
      _ = try await bench.api.upload(film, by: UploadProtocol(PartsUpload()), options: bench.options)
      let parts = server.exchanges.filter { $0.method == "PUT" }
      #expect(parts.map(\.contentLength).filter { $0 >= 20_000 } == [40_000, 40_000, 20_000])
      #expect(objects.completion == "tag-0,tag-1,tag-2")
    }
  }

  @Test("Parts are sent concurrently, up to the maximum of the protocol, and reported as one progress")
  func parallel() async throws {
    let objects = PartsServer()
    let gate = Gate()
    let faults = [1, 2].map { Fault(at: .requestContent(after: 1000), .stall(until: gate), on: .request($0)) }
    try await with(objects, faults: faults) { bench, server, film in
      let progress = ProgressReporter()
      let counts = Task {
        var counts: [Int64] = []
        for await step in progress { counts.append(step.completed) }
        return counts
      }
      let driver = PartsUpload(maximumParallelParts: 2)
      let task = Task {
        try await bench.api.upload(
          film.uploadProgress(progress), by: UploadProtocol(driver), options: bench.options)
      }
      _ = try await server.exchange { $0.number == 1 && $0.contentLength >= 1000 }
      _ = try await server.exchange { $0.number == 2 && $0.contentLength >= 1000 }
      #expect(server.exchanges.count == 3)
      gate.open()
      #expect(try await task.value.value.size == 100_000 && objects.completion == "tag-0,tag-1,tag-2")
      #expect(server.exchanges.map(\.method) == ["POST", "PUT", "PUT", "PUT", "POST"])
      let reported = await counts.value
      #expect(reported == reported.sorted() && reported.last == 100_000)
      #expect(bench.records.isEmpty)
    }
  }

  @Test("One failed part among several is resent alone; if it fails permanently, the remaining parts are cancelled")
  func parallelFailures() async throws {
    let driver = UploadProtocol(PartsUpload(maximumParallelParts: 3))
    let objects = PartsServer(rejecting: 2)
    try await with(objects) { bench, server, film in
      _ = try await bench.api.upload(film, by: driver, options: bench.options)
      #expect(objects.completion == "tag-0,tag-1,tag-2")
      #expect(server.exchanges.map(\.method) == ["POST", "PUT", "PUT", "PUT", "PUT", "POST"])
    }
    let fault = Fault(at: .requestContent(after: 1000), .stall(until: Gate()), on: .request(1))
    try await with(PartsServer(refusing: 2), faults: [fault]) { bench, server, film in
      let error = await failure { try await bench.api.upload(film, by: driver, options: bench.options) }
      #expect(error?.status == 403 && error?.transfer?.total == 100_000)
      #expect(bench.records.count == 2)
    }
  }

  @Test("Discarding an incomplete upload removes it from the server and from the store")
  func discard() async throws {
    let fault = Fault(at: .requestContent(after: 1000), .stall(until: Gate()), on: .request(1))
    try await with(PartsServer(), faults: [fault]) { bench, server, film in
      let (options, parts) = (bench.options, UploadProtocol(PartsUpload()))
      let task = Task { await failure { try await bench.api.upload(film, by: parts, options: options) } }
      _ = try await server.exchange { $0.method == "PUT" && $0.contentLength >= 1000 }
      task.cancel()
      #expect(await task.value?.code == .cancelled && bench.records.count == 2)
      try await bench.api.discardUpload(film, by: parts, options: options)
      let last = try #require(server.exchanges.last)
      #expect(last.method == "DELETE" && last.target == "/films/7?id=u1" && bench.records.isEmpty)
    }
  }
}
