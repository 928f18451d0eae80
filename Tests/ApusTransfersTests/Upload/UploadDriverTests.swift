#if NIO && Transfers
import ApusCore
import ApusTestServer
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

/// A protocol with numbered parts of one size that each have a receipt, and a last request that lists them, as object
/// stores have it.
private struct PartsUpload: UploadDriver {
  static let partSize: Int64 = 40_000

  let name = "parts"
  let restartsWhenGone = true

  func create(
    _ calls: UploadCalls, note: @escaping @Sendable (UploadTicket) -> Void
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
    _ = try await calls.send(calls.request(.put, to: target, part: part), reportingFrom: part.lowerBound)
    // The receipts come from the list, as they do when another process continues.
    return .unsure
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

@Suite("The seam for protocols of uploads")
struct UploadDriverTests {
  @Test(
    "A protocol with numbered parts and receipts uploads the missing parts, in any order in which the server lists the others"
  )
  func parts() async throws {
    let stored = Mutex<[Int: String]>([2: "tag-2"])
    let list = Mutex("")
    try await TestServer.with { request in
      switch request.method {
      case "POST" where request.query == "uploads=": return .text("u1")
      case "GET":
        let lines = stored.withLock { $0.sorted { $0.key > $1.key }.map { "\($0.key) \($0.value)" } }
        return .text(lines.joined(separator: "\n"))
      case "PUT":
        let number = request.target.split(separator: "=").last.flatMap { Int($0) } ?? -1
        stored.withLock { $0[number] = "tag-\(number)" }
        return .status(200)
      case "POST":
        list.withLock { $0 = request.text }
        return .json(#"{"size":100000}"#)
      default: return .status(405)
      }
    } body: { server in
      try await UploadBench.with(server) { bench in
        try bench.write(100_000)
        let film = Request<StoredFilm>.post("/films/7", content: .file(bench.path))
        let result = try await bench.api.upload(film, by: UploadProtocol(PartsUpload()), options: bench.options)
        #expect(result.value.size == 100_000 && list.withLock { $0 } == "tag-0,tag-1,tag-2")
        let parts = server.exchanges.filter { $0.method == "PUT" && $0.query != "uploads=" }
        #expect(parts.map(\.contentLength).filter { $0 > 0 } == [40_000, 40_000])
        #expect(bench.records.isEmpty)
      }
    }
  }
}
#endif
