import ApusTesting
import Synchronization
import TestSupport
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct Item: Codable, Sendable, Hashable { var id: Int }

/// A number, or a marker for an element that cannot be decoded.
private enum Outcome: Hashable {
  case number(Int)
  case broken(Int)
}

@Suite("Elements of streams")
struct StreamElementTests {
  /// Returns the elements of content in pieces, including the undecodable elements.
  private func elements(
    _ pieces: [Data], _ type: MediaType, _ change: (inout StreamOptions) -> Void = { _ in }
  ) throws -> [Outcome] {
    let outcomes = Log<Outcome>()
    var options = StreamOptions(for: .json)
    options.onUndecodable = { outcomes.add(.broken($0.index)) }
    change(&options)
    let content = Content(data: Data(), mediaType: type)
    var parser = try JSONStream<Int>._format.parser(StreamContext(content, options))
    for piece in pieces where !piece.isEmpty {
      parser.feed(piece)
      while let element = try parser.next() { outcomes.add(.number(element)) }
    }
    parser.finish()
    while let element = try parser.next() { outcomes.add(.number(element)) }
    return outcomes.all
  }

  private func check(_ text: String, _ type: MediaType, _ expected: [Outcome]) throws {
    let content = Data(text.utf8)
    for index in 0...content.count {
      let outcomes = try elements([content.prefix(index), content.dropFirst(index)], type)
      #expect(outcomes == expected, "split at \(index)")
    }
    #expect(try elements(content.map { Data([$0]) }, type) == expected)
  }

  @Test(
    "Lines of JSON are parsed in pieces that end anywhere",
    arguments: [
      ("", []), ("1\n2\n", [.number(1), .number(2)]), ("1\n2", [.number(1), .number(2)]),
      ("1\r\n2\r\n", [.number(1), .number(2)]), ("\n\n1\n \t\n2\n\n", [.number(1), .number(2)]),
      (" 1 \n", [.number(1)]), ("\u{FEFF}1\n", [.number(1)]), ("1\nx\n3\n", [.number(1), .broken(1), .number(3)]),
      ("1\n{\"a\":\n3\n", [.number(1), .broken(1), .number(3)]), ("\"a\"\nnull\n", [.broken(0), .broken(1)]),
      ("1\n2\nx", [.number(1), .number(2), .broken(2)]), ("1 2\n", [.broken(0)]),
    ] as [(String, [Outcome])])
  fileprivate func lines(text: String, expected: [Outcome]) throws {
    try check(text, "application/x-ndjson", expected)
  }

  @Test(
    "A JSON text sequence is parsed in pieces that end anywhere",
    arguments: [
      ("", []), ("\u{1E}1\n\u{1E}2\n", [.number(1), .number(2)]), ("\u{1E}\u{1E}\u{1E}1\n", [.number(1)]),
      ("\u{1E}\n\u{1E} \n\u{1E}1\n", [.number(1)]), ("\u{1E}1\n\n\n\u{1E}2\r\n", [.number(1), .number(2)]),
      // A number without white space after it may be a part of a longer number.
      ("\u{1E}1\n\u{1E}23", [.number(1), .broken(1)]), ("\u{1E}12\u{1E}3\n", [.broken(0), .number(3)]),
      ("\u{1E}12 \u{1E}3\t", [.number(12), .number(3)]), ("\u{1E}true", [.broken(0)]),
      // An invalid text ends at the next separator.
      ("\u{1E}{\"a\":[1,\n\u{1E}2\n", [.broken(0), .number(2)]), ("\u{1E}\"abc\n\u{1E}2\n", [.broken(0), .number(2)]),
      ("\u{1E}]\n\u{1E}2\n", [.broken(0), .number(2)]), ("1\n\u{1E}2\n", [.broken(0), .number(2)]),
      (" \n\u{1E}2\n", [.number(2)]), ("\u{1E}1\n2\n\u{1E}3\n", [.number(1), .broken(1), .number(3)]),
    ] as [(String, [Outcome])])
  fileprivate func sequences(text: String, expected: [Outcome]) throws {
    try check(text, "application/json-seq", expected)
    try check(text, "application/geo+json-seq", expected)
  }

  @Test("A text of a JSON text sequence may have several lines, and is returned at its final line feed")
  func severalLines() throws {
    var texts = JSONSequenceSplitter(limit: 100)
    texts.feed(Data("\u{1E}{\n\"a\": \"\\\"}\\n\"\n}\n".utf8))
    #expect(try texts.next() == JSONSequenceSplitter.Text(bytes: Data("{\n\"a\": \"\\\"}\\n\"\n}\n".utf8)))
    #expect(try texts.next() == nil)
    // An object that is complete needs no white space.
    texts.feed(Data("\u{1E}[1]".utf8))
    #expect(try texts.next() == nil)
    texts.finish()
    #expect(try texts.next() == JSONSequenceSplitter.Text(bytes: Data("[1]".utf8)))
  }

  @Test(
    "A stream element above the limit fails with contentTooLarge",
    arguments: ["application/x-ndjson", "application/json-seq"] as [MediaType])
  func limit(type: MediaType) throws {
    #expect(
      try elements([Data("\u{1E}12345\n".utf8).dropFirst(type == "application/json-seq" ? 0 : 1)], type) {
        $0.maximumElementSize = 6
      } == [.number(12345)])
    let error = #expect(throws: RejectedResponse.self) {
      try elements([Data("\u{1E}1234".utf8), Data("5678\n".utf8)], type) { $0.maximumElementSize = 6 }
    }
    #expect(error?.code == .contentTooLarge)
  }

  @Test("Without a handler the first invalid element fails the stream, with index and coding path")
  func failing() throws {
    var parser = try JSONStream<Item>._format.parser(
      StreamContext(Content(data: Data(), mediaType: nil), StreamOptions(for: .json)))
    parser.feed(Data("{\"id\":1}\n{\"id\":\"x\"}\n".utf8))
    #expect(try parser.next() == Item(id: 1))
    let error = #expect(throws: RejectedResponse.self) { try parser.next() }
    #expect(error?.code == .decoding)
    #expect(error?.detail == "element 1: expected Int, found a string (line 1, column 7, byte 6)")
    #expect(error?.codingPath == "id")
    #expect(error?.content.data == Data("{\"id\":\"x\"}".utf8))
  }

  @Test("The end marker ends a stream", arguments: ["1\n[DONE]\n2\n", "1\r\n[DONE]\r\n2\n", "1\n[DONE]"])
  func endMarker(text: String) throws {
    let outcomes = try elements([Data(text.utf8)], "application/x-ndjson") { $0.endMarker = "[DONE]" }
    #expect(outcomes == [.number(1)])
  }

  @Test("Events are returned as raw data or text, or decoded from JSON in the coding in effect")
  func eventTypes() throws {
    struct Film: Decodable, Sendable, Hashable { var releaseYear: Int }
    func all<Element>(_ type: EventStream<Element>.Type, _ text: String) throws -> [Element] {
      var coding = CodingOptions()
      coding.json = .snakeCase
      let content = Content(data: Data(text.utf8), mediaType: .eventStream, coding: coding)
      return try type._format.mapping(StreamOptions(for: .events)).read(content).elements
    }
    #expect(try all(EventStream<Data>.self, "data: 1\n\ndata: a\n\n") == [Data("1".utf8), Data("a".utf8)])
    #expect(try all(EventStream<String>.self, "data: 1\n\ndata: \"a\"\n\n") == ["1", "\"a\""])
    #expect(try all(EventStream<ServerSentEvent>.self, "event: x\ndata: 1\n\n") == [event("1", name: "x")])
    #expect(try all(EventStream<Film>.self, "data: {\"release_year\":7}\n\n") == [Film(releaseYear: 7)])
    #expect(try all(EventStream<JSONValue>.self, "data: [1]\n\n") == [.array([1])])
  }

  @Test(
    "Reading a response that is not an event stream fails with a decoding error",
    arguments: [
      (200, "text/html", "expected text/event-stream, got text/html"),
      (200, nil, "expected text/event-stream, got no media type"),
      (206, "text/event-stream", "expected an event stream with status 200 or 204, got status 206"),
      (205, nil, "expected an event stream with status 200 or 204, got status 205"),
    ] as [(Int, MediaType?, String)])
  func noEvents(status: Int, type: MediaType?, detail: String) {
    let content = Content(data: Data(), mediaType: type, status: status)
    let error = #expect(throws: RejectedResponse.self) {
      try EventElements<String>(StreamContext(content, StreamOptions(for: .events)))
    }
    #expect(error?.code == .decoding)
    #expect(error?.detail == detail)
  }

  @Test("The media type of a stream is compared without case and parameters; 204 is an empty stream that has ended")
  func acceptedResponses() throws {
    let options = StreamOptions(for: .events)
    let events = Content(data: Data(), mediaType: "Text/Event-Stream; charset=utf-8")
    #expect(try !EventElements<String>(StreamContext(events, options)).isOver)
    let empty = Content(data: Data(), status: 204)
    #expect(try EventElements<String>(StreamContext(empty, options)).isOver)
  }

  @Test("Lines of text are returned without line ends and byte order mark; invalid UTF-8 is repaired")
  func textLines() throws {
    let content = Data("\u{FEFF}a\r\n\nb\u{FEFF}\rc".utf8) + Data([0xFF])
    let mapping = LineStream._format.mapping(StreamOptions(for: .lines))
    #expect(try mapping.read(Content(data: content)).elements == ["a", "", "b\u{FEFF}", "c\u{FFFD}"])
    #expect(try mapping.read(Content(data: Data())).elements == [])
  }

  @Test("The description of an undecodable element contains none of its values")
  func description() throws {
    let described = Mutex("")
    _ = try elements([Data("\"secret\"\n".utf8)], "application/jsonl") { options in
      options.onUndecodable = { element in described.withLock { $0 = element.description } }
    }
    #expect(
      described.withLock { $0 } == "element 0: expected Int, found a string (line 1, column 1, byte 0) at the top")
  }

  @Test(
    "Parsing stream elements takes linear time", arguments: ["data\n", "data: x\n\n", "\r", ": c\n", "id\n\n", "x"])
  func linearTime(piece: String) {
    let options = StreamOptions(for: .events)
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece)) { text in
        _ = try? EventStream<String>._format.mapping(options).read(
          Content(data: Data(text.utf8), mediaType: .eventStream))
      })
  }
}
