import ApusTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records each notification of the end of content.
private final class Ends: Sendable {
  private let list = Mutex<[String]>([])
  var all: [String] { list.withLock { $0 } }

  func note(_ end: ContentEnd) {
    let text =
      switch end {
      case .finished(let length): "finished \(length)"
      case .failed(let error): "failed \(type(of: error))"
      case .discarded: "discarded"
      }
    list.withLock { $0.append(text) }
  }
}

private struct Broke: Error {}

/// A source without trailers.
private struct MemoryOnly: ContentSource {
  func next() async throws -> Data? { nil }
  func cancel() {}
}

@Suite("Content of responses") struct ResponseContentTests {
  private func arriving(
    _ pieces: [String], error: (any Error)? = nil, length: Int64? = nil, onCancel: @escaping @Sendable () -> Void = {}
  ) -> (ResponseContent, Ends) {
    let channel = ContentChannel(onCancel: onCancel)
    for piece in pieces { channel.push(Data(piece.utf8)) }
    channel.finish(throwing: error)
    let content = ResponseContent(source: channel, expectedLength: length)
    let ends = Ends()
    content.onEnd(ends.note)
    return (content, ends)
  }

  @Test("Content in memory is complete immediately")
  func memory() async throws {
    let content = ResponseContent(Data("abc".utf8))
    let ends = Ends()
    content.onEnd(ends.note)
    #expect(ends.all == ["finished 3"])
    #expect(content.bytes == Data("abc".utf8) && content.expectedLength == 3)
    #expect(try await content.collect(upTo: 3) == Data("abc".utf8))
    #expect(try await content.prefix(2) == Data("ab".utf8))
    #expect(try await content.next() == nil)
    content.discard()
    #expect(ends.all.count == 1)
    await #expect(throws: TransportError.self) { try await content.collect(upTo: 2) }
    #expect(ResponseContent.empty.bytes == Data())
  }

  @Test("Arriving content can be read to its end, and every listener is notified once")
  func finished() async throws {
    let (content, ends) = arriving(["ab", "c"], length: 3)
    let late = Ends()
    let sizes = Mutex<[Int]>([])
    #expect(content.bytes == nil && content.expectedLength == 3 && ends.all == [])
    let all = try await content.collect(upTo: 3) { size in sizes.withLock { $0.append(size) } }
    #expect(all == Data("abc".utf8) && sizes.withLock { $0 } == [2, 1])
    #expect(ends.all == ["finished 3"])
    content.onEnd(late.note)
    content.discard()
    #expect(ends.all == ["finished 3"] && late.all == ["finished 3"])
    #expect(try await content.next() == nil)
  }

  @Test("Content that ends early fails once, and every later read fails")
  func failed() async throws {
    let (content, ends) = arriving(["ab"], error: Broke())
    await #expect(throws: Broke.self) { try await content.collect(upTo: 10) }
    await #expect(throws: Broke.self) { try await content.next() }
    content.discard()
    #expect(ends.all == ["failed Broke"])
  }

  @Test("Discarded content ends once, and its source is cancelled once")
  func discarded() async {
    let cancels = Counter()
    let channel = ContentChannel { cancels.add() }
    let content = ResponseContent(source: channel)
    let ends = Ends()
    content.onEnd(ends.note)
    content.discard()
    content.cancel()
    #expect(ends.all == ["discarded"] && cancels.value == 1)
    await #expect(throws: CancellationError.self) { try await content.next() }
    #expect(content.expectedLength == nil)
  }

  @Test("Discarding content during a read ends the read, and listeners are notified of a discard, not of a failure")
  func discardedWhileReading() async {
    for _ in 0..<50 {
      let channel = ContentChannel {}
      let content = ResponseContent(source: channel)
      let ends = Ends()
      content.onEnd(ends.note)
      let reader = Task { try await content.next() }
      await Task.yield()
      content.discard()
      await #expect(throws: CancellationError.self) { try await reader.value }
      #expect(ends.all == ["discarded"])
    }
  }

  @Test("Content is discarded when its last reference is released")
  func forgotten() {
    let cancels = Counter()
    let ends = Ends()
    do {
      let content = ResponseContent(source: ContentChannel { cancels.add() })
      content.onEnd(ends.note)
    }
    #expect(ends.all == ["discarded"] && cancels.value == 1)
  }

  @Test("Reading content over the limit fails, and the rest is discarded", arguments: [nil, 6] as [Int64?])
  func limit(length: Int64?) async throws {
    let (content, ends) = arriving(["abc", "def"], length: length)
    let error = await #expect(throws: TransportError.self) { try await content.collect(upTo: 5) }
    #expect(error?.code == .contentTooLarge)
    #expect(ends.all == ["discarded"])
    let (exact, _) = arriving(["abc", "def"], length: length)
    #expect(try await exact.collect(upTo: 6).count == 6)
    let (none, _) = arriving([])
    #expect(try await none.collect(upTo: 0).isEmpty)
  }

  @Test("Reading a prefix of the content discards the rest")
  func prefix() async throws {
    let (content, ends) = arriving(["abc", "def", "ghi"])
    #expect(try await content.prefix(4) == Data("abcd".utf8))
    #expect(ends.all == ["discarded"])
    let (short, shortEnds) = arriving(["a"])
    #expect(try await short.prefix(4) == Data("a".utf8))
    #expect(shortEnds.all == ["finished 1"])
  }

  @Test("Content that is read, discarded and finished concurrently ends exactly once", arguments: 0..<10)
  func race(seed: UInt64) async {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      let order = Int.random(in: 0...5, using: &generator)
      let channel = ContentChannel {}
      let content = ResponseContent(source: channel)
      let ends = Ends()
      content.onEnd(ends.note)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = try? await content.collect(upTo: 100) }
        group.addTask {
          channel.push(Data("x".utf8))
          if order % 2 == 0 { channel.finish() } else { channel.finish(throwing: Broke()) }
        }
        if order > 1 { group.addTask { content.discard() } }
      }
      content.discard()
      #expect(ends.all.count == 1)
    }
  }

  @Test("A streamed call reads content in memory piece by piece")
  func streamedMemory() async throws {
    struct Stored: Transport {
      let data: Data
      func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
        ResponseMessage(head: HTTPResponse(status: .ok), content: ResponseContent(data))
      }
    }
    for text in ["stored", ""] {
      let api = Client(environment: Environment(baseURL: "https://a.example"), transport: Stored(data: Data(text.utf8)))
      let read = try await api.withResponse(to: Request<Void>.get("/x")) { response in
        #expect(response.expectedLength == Int64(text.utf8.count))
        return try await response.collect()
      }
      #expect(read == Data(text.utf8))
      let dropped = try await api.withResponse(to: Request<Void>.get("/x")) { $0.head.status.code }
      #expect(dropped == 200)
    }
    ResponseContent(Data("x".utf8)).arriving.discard()
  }

  @Test("Permitted trailers are available once all content was read")
  func trailers() async throws {
    let fields: HTTPFields = [
      .init("X-Sum")!: "1", .setCookie: "a=b", .contentLength: "9", .init("Server-Timing")!: "t",
    ]
    let allowed: HTTPFields = [.init("X-Sum")!: "1", .init("Server-Timing")!: "t"]
    let channel = ContentChannel {}
    channel.push(Data("a".utf8))
    let content = ResponseContent(source: channel)
    channel.finish(trailers: fields)
    _ = try await content.next()
    #expect(content.trailers.isEmpty)
    #expect(try await content.next() == nil)
    #expect(content.trailers == allowed)
    #expect(ResponseContent(Data(), trailers: fields).trailers == allowed)
    #expect(ResponseContent(collected: Data(), trailers: fields).trailers == allowed)
    #expect(ResponseContent(source: MemoryOnly()).trailers.isEmpty)
    let again = ResponseContent(Data("a".utf8), trailers: fields).arriving
    _ = try await again.collect(upTo: 1)
    #expect(again.trailers == allowed)
  }

  @Test("Content that fails or is discarded has no trailers", arguments: [false, true])
  func noTrailers(isGivenUp: Bool) async throws {
    let channel = ContentChannel {}
    let content = ResponseContent(source: channel)
    channel.finish(throwing: isGivenUp ? nil : Broke(), trailers: [.init("X-Sum")!: "1"])
    if isGivenUp { content.discard() }
    _ = try? await content.next()
    #expect(content.trailers.isEmpty)
  }

  @Test("Discarding a response discards its content")
  func message() {
    let (content, ends) = arriving(["a"])
    ResponseMessage(head: HTTPResponse(status: .ok), content: content).discard()
    #expect(ends.all == ["discarded"])
    #expect(ResponseMessage(head: HTTPResponse(status: .ok)).content.bytes == Data())
  }
}
