import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Streams as content") struct ContentStreamTests {
  private struct Broke: Error {}

  /// A sequence that returns its pieces, then ends or fails, and counts the reads.
  private struct Pieces: AsyncSequence, Sendable {
    var pieces: [String]
    var error: (any Error)?
    let requested = Counter()

    struct Iterator: AsyncIteratorProtocol {
      var rest: ArraySlice<String>
      let error: (any Error)?
      let requested: Counter
      mutating func next() async throws -> Data? {
        requested.add()
        if let piece = rest.popFirst() { return Data(piece.utf8) }
        if let error { throw error }
        return nil
      }
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: pieces[...], error: error, requested: requested) }
  }

  private func text(_ next: ContentStream.Pieces) async throws -> [String] {
    var all: [String] = []
    while let piece = try await next() { all.append(String(decoding: piece, as: UTF8.self)) }
    return all
  }

  @Test("An asynchronous sequence is sent piece by piece, and a second time from the start")
  func sequence() async throws {
    let source = Pieces(pieces: ["a", "b", "c"])
    let stream = ContentStream(length: 3, source)
    #expect(stream.length == 3 && stream.isReplayable)
    #expect(source.requested.value == 0)
    let first = try stream.makePieces()
    #expect(try await first() == Data("a".utf8))
    #expect(source.requested.value == 1)
    #expect(try await text(first) == ["b", "c"])
    #expect(try await first() == nil)
    #expect(try await text(try stream.makePieces()) == ["a", "b", "c"])
  }

  @Test("An error thrown by an asynchronous sequence reaches the transport and ends the attempt")
  func failing() async throws {
    let pass = try ContentStream(Pieces(pieces: ["a"], error: Broke())).makePieces()
    _ = try await pass()
    await #expect(throws: Broke.self) { _ = try await pass() }
    #expect(try await pass() == nil)
  }

  @Test("The content of a message has the length and the replayability of its stream")
  func message() async throws {
    for isReplayable in [true, false] {
      let stream = ContentStream(length: 5, isReplayable: isReplayable) { { nil } }
      let message = try await builtMessage(Request<Void>.post("/x", content: .stream(stream, "video/mp4")))
      #expect(message.content.length == 5)
      #expect(message.content.isReplayable == isReplayable)
      #expect(!message.content.isEmpty)
      #expect(message.head.headerFields.contains { $0.value == "video/mp4" })
    }
    #expect(MessageContent.stream(ContentStream(isReplayable: true) { { nil } }).length == nil)
  }
}
