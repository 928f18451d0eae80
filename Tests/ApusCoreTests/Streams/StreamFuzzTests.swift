import ApusTesting
import TestSupport
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Fuzz: content of streams")
struct StreamFuzzTests {
  private static let parts: [[UInt8]] =
    [
      "data", "event", "id", "retry", ":", " ", "\r", "\n", "\r\n", "\n\n", "0", "17", "a", "\0", "\u{FEFF}", "\u{1E}",
      "{", "}", "[", "]", "\"", "\\", "é", "true", "data: a\n\n", "\u{1E}{\"a\":1}\n", "[DONE]",
    ].map { Array($0.utf8) } + [[0xFF], [0xC3]]

  private func content(using generator: inout SeededGenerator) -> Data {
    let count = Int.random(in: 0...40, using: &generator)
    return Data(exactCopyOf: (0..<count).flatMap { _ in Self.parts.randomElement(using: &generator) ?? [] })
  }

  private func pieces(of content: Data, using generator: inout SeededGenerator) -> [Data] {
    var (pieces, rest) = ([Data](), content[...])
    while !rest.isEmpty {
      let count = Int.random(in: 1...7, using: &generator)
      // Each piece has exactly sized memory, so that the address sanitizer detects an access outside of the piece.
      pieces.append(Data(exactCopyOf: rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces
  }

  /// Returns all elements as text, with the code of the error that ended them.
  private func outcome<Value: StreamedValue>(
    of pieces: [Data], as type: Value.Type, _ mediaType: MediaType
  ) -> [String] {
    var options = StreamOptions(for: Value._format.kind)
    (options.maximumElementSize, options.endMarker) = (60, "[DONE]")
    let context = StreamContext(Content(data: Data(), mediaType: mediaType), options)
    var outcome: [String] = []
    do {
      var elements = StreamElements(try Value._format.parser(context))
      func takeAll() throws {
        while elements.parse() == .elements {
          while let element = try elements.next() { outcome.append("\(element)") }
        }
      }
      for piece in pieces {
        elements.feed(piece)
        try takeAll()
        if elements.isOver { break }
      }
      if !elements.isOver { elements.feed(nil) }
      try takeAll()
      outcome.append("end, \(elements.position)")
    } catch {
      outcome.append((error as? RejectedResponse).map { "\($0.code): \($0.detail)" } ?? "another error: \(error)")
    }
    return outcome
  }

  @Test("Random content in random pieces is parsed into the same elements as in one piece", arguments: 0..<8)
  func anyPieces(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<fuzzRounds(usually: 100) {
      let content = content(using: &generator)
      let pieces = pieces(of: content, using: &generator)
      let whole = content.isEmpty ? [] : [content]
      func check<Value: StreamedValue>(_ type: Value.Type, _ mediaType: MediaType) {
        let expected = outcome(of: whole, as: type, mediaType)
        let found = outcome(of: pieces, as: type, mediaType)
        #expect(found == expected, "seed \(seed), round \(round), \(mediaType): \(Array(content))")
        #expect(!found.contains { $0.hasPrefix("another error") })
      }
      check(EventStream<ServerSentEvent>.self, .eventStream)
      check(EventStream<Int>.self, .eventStream)
      check(JSONStream<JSONValue>.self, "application/x-ndjson")
      check(JSONStream<JSONValue>.self, "application/json-seq")
      check(LineStream.self, "text/plain")
    }
  }

  @Test(
    "Parsing a stream of JSON takes linear time",
    arguments: ["\u{1E}", "\u{1E}1\n", "\u{1E}{\n", "[", "\"", "\n", "1\n", " ", "\u{1E}\"\\"])
  func linearTime(piece: String) {
    for type in ["application/json-seq", "application/x-ndjson"] as [MediaType] {
      var options = StreamOptions(for: .json)
      options.onUndecodable = { _ in }
      let mapping = JSONStream<JSONValue>._format.mapping(options)
      #expect(
        LinearTime.holds(for: LinearTime.repeating(piece)) { text in
          _ = try? mapping.read(Content(data: Data(text.utf8), mediaType: type))
        })
    }
  }
}
