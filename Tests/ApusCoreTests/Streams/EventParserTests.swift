import ApusTesting
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Parsing event streams")
struct EventParserTests {
  /// Returns the events of content that arrives in pieces, and the position at the end.
  private func parse(_ pieces: [Data]) throws -> (events: [ServerSentEvent], position: StreamPosition) {
    var parser = EventParser()
    var events: [ServerSentEvent] = []
    for piece in pieces where !piece.isEmpty {
      parser.feed(piece)
      while let event = try parser.next() { events.append(event) }
    }
    return (events, parser.position)
  }

  @Test("An event stream in one piece is parsed", arguments: EventCase.all)
  func whole(_ test: EventCase) throws {
    let (events, position) = try parse([test.content])
    #expect(events == test.events)
    #expect(position == test.position)
  }

  @Test("An event stream that is split at any byte is parsed into the same events", arguments: EventCase.all)
  func splitInTwo(_ test: EventCase) throws {
    // Splits long content only near its ends, because its middle is uniform.
    let count = test.content.count
    for index in 0...count where index < 300 || index > count - 300 {
      let (events, position) = try parse([test.content.prefix(index), test.content.dropFirst(index)])
      #expect(events == test.events, "split at \(index)")
      #expect(position == test.position, "split at \(index)")
    }
  }

  @Test("An event stream that arrives byte by byte is parsed into the same events", arguments: EventCase.all)
  func singleBytes(_ test: EventCase) throws {
    let (events, position) = try parse(test.content.map { Data([$0]) })
    #expect(events == test.events)
    #expect(position == test.position)
  }

  @Test(
    "Concatenated event streams are parsed into the same events in pieces of any size", arguments: [1, 2, 7, 64, 1000])
  func inARow(size: Int) throws {
    let cases = EventCase.all.filter { !EventCase.ends.map(\.testDescription).contains($0.testDescription) }
    let content = cases.map { $0.content + Data("\n\nid\n\n".utf8) }.reduce(Data(), +)
    let pieces = stride(from: 0, to: content.count, by: size).map { content[$0..<min($0 + size, content.count)] }
    #expect(try parse(pieces).events == parse([content]).events)
  }

  @Test("A line of the maximum length is accepted; a longer line is refused before its end")
  func lineLimit() throws {
    var parser = EventParser(limits: EventParser.Limits(line: 10, event: 100))
    parser.feed(Data("data: 6789\n\ndata: 67890".utf8))
    #expect(try parser.next() == event("6789"))
    #expect(throws: ElementTooLong(element: "a line", limit: 10)) { try parser.next() }
  }

  @Test("A long line is refused even if it arrives byte by byte")
  func longLineInBytes() throws {
    var parser = EventParser(limits: EventParser.Limits(line: 10, event: 100))
    for _ in 0..<10 {
      parser.feed(Data("x".utf8))
      #expect(try parser.next() == nil)
    }
    parser.feed(Data("x".utf8))
    #expect(throws: ElementTooLong(element: "a line", limit: 10)) { try parser.next() }
  }

  @Test("Event data of the maximum length, including line feeds, is accepted, and one more byte is refused")
  func eventLimit() throws {
    var parser = EventParser(limits: EventParser.Limits(line: 100, event: 5))
    parser.feed(Data("data: ab\ndata: cd\n\ndata: ab\ndata: cde\n\n".utf8))
    #expect(try parser.next() == event("ab\ncd"))
    #expect(throws: ElementTooLong(element: "an event", limit: 5)) { try parser.next() }
  }

  @Test("An endless sequence of empty data lines is refused")
  func emptyLines() throws {
    var parser = EventParser(limits: EventParser.Limits(line: 100, event: 5))
    parser.feed(Data(String(repeating: "data\n", count: 7).utf8))
    #expect(throws: ElementTooLong(element: "an event", limit: 5)) { try parser.next() }
  }

  @Test("The default limits of an event stream are 1 MiB for a line and 8 MiB for an event")
  func defaultLimits() {
    #expect(EventParser.Limits() == EventParser.Limits(line: 1 << 20, event: 8 << 20))
  }

  @Test("The last event ID of earlier responses applies until an event sets another")
  func earlierID() throws {
    var parser = EventParser(lastEventID: "7")
    parser.feed(Data("data: a\n\nid: 8\n\n".utf8))
    #expect(try parser.next() == event("a", id: "7"))
    #expect(try parser.next() == nil)
    #expect(parser.position.lastEventID == "8")
  }

  @Test("The data of an event can be read as text and JSON")
  func decoding() throws {
    let event = event(#"{"id":7}"#)
    #expect(event.text == #"{"id":7}"#)
    #expect(try event.decode([String: Int].self) == ["id": 7])
    #expect(throws: DecodingError.self) { try event.decode([Int].self) }
    #expect(ServerSentEvent(data: Data([0x61, 0xFF])).text == "a\u{FFFD}")
  }

  @Test("An event can be encoded and decoded")
  func codable() throws {
    let original = event("a", name: "add", id: "7")
    #expect(try JSONDecoder().decode(ServerSentEvent.self, from: JSONEncoder().encode(original)) == original)
  }
}
