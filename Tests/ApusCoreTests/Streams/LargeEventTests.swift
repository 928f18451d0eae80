import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A transport that responds with an event of 10 MB in pieces of 64 KiB, each created when it is read.
private final class LargeEvent: ContentSource, Transport {
  static let pieceSize = 64 << 10
  static let length = 10_000_000

  /// The number of bytes that were read.
  let read = Mutex(0)
  let isCancelled = Gate()
  private let line: [UInt8]

  /// - Parameter lineLength: the length of each line of the event.
  init(lineLength: Int) {
    line = Array("data: ".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: lineLength - 7) + [UInt8(ascii: "\n")]
  }

  func next() async throws -> Data? {
    let start = read.withLock { read in
      defer { read += Self.pieceSize }
      return read
    }
    guard start < Self.length else { return nil }
    return Data((start..<start + Self.pieceSize).map { line[$0 % line.count] })
  }

  func cancel() { isCancelled.open() }

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    let head = HTTPResponse(status: .ok, headerFields: [.contentType: "text/event-stream"])
    return ResponseMessage(head: head, content: ResponseContent(source: self))
  }
}

@Suite("Events that are too large")
struct LargeEventTests {
  @Test(
    "An event of 10 MB ends the stream with a typed error once the limit of bytes has been read",
    arguments: [
      (10_000_001, 1 << 20, "a line exceeds 1048576 bytes"), (1000, 8 << 20, "an event exceeds 8388608 bytes"),
    ])
  func refused(lineLength: Int, limit: Int, detail: String) async throws {
    let event = LargeEvent(lineLength: lineLength)
    let api = Client(environment: Environment(baseURL: "https://x.test"), transport: event)
    let (elements, error) = await api.stream(Request<EventStream<ServerSentEvent>>.get("/events")).all()
    #expect(elements.isEmpty && error?.code == .contentTooLarge)
    #expect(error?.detail == detail + "; change the limit with .streaming(_:)")
    try await event.isCancelled.wait()
    // A few pieces are read before they are parsed, and the lines of an event have more bytes than its data.
    #expect(event.read.withLock { $0 } <= limit + limit / 50 + 4 * LargeEvent.pieceSize)
    #expect(api.calls.isEmpty)
  }
}
