import ApusTesting
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The content of an event stream and the events in it.
struct EventCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let content: Data
  let events: [ServerSentEvent]
  var position = StreamPosition()

  init(_ title: String, _ content: String, _ events: [ServerSentEvent], id: String = "") {
    self.init(title, bytes: Data(content.utf8), events)
    position.lastEventID = id
  }

  init(_ title: String, _ content: String, _ events: [ServerSentEvent] = [], retry: Duration) {
    self.init(title, bytes: Data(content.utf8), events)
    position.reconnectionTime = retry
  }

  init(_ title: String, bytes: Data, _ events: [ServerSentEvent]) {
    (testDescription, content, self.events) = (title, bytes, events)
  }
}

/// Returns an event for a table of test cases.
func event(_ text: String, name: String = "message", id: String = "") -> ServerSentEvent {
  ServerSentEvent(name: name, text: text, id: id)
}

extension EventCase {
  static let lineEnds: [EventCase] = [
    EventCase("LF", "data: a\n\ndata: b\n\n", [event("a"), event("b")]),
    EventCase("CR", "data: a\r\rdata: b\r\r", [event("a"), event("b")]),
    EventCase("CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", [event("a"), event("b")]),
    EventCase("CRLF, then LF", "data: a\r\n\ndata: b\n\r\n", [event("a"), event("b")]),
    EventCase("CR, then LF is one line end", "data: a\r\ndata: b\n\n", [event("a\nb")]),
    EventCase("LF, then CR is two", "data: a\n\rdata: b\n\r", [event("a"), event("b")]),
    EventCase("CR, then CRLF", "data: a\r\r\ndata: b\r\r\n", [event("a"), event("b")]),
    EventCase("all three in one event", "data: a\ndata: b\rdata: c\r\n\n", [event("a\nb\nc")]),
    EventCase(
      "form feed, vertical tab and NEL end no line", "data: a\u{C}b\u{B}c\u{85}d\n\n", [event("a\u{C}b\u{B}c\u{85}d")]),
    EventCase("U+2028 and U+2029 end no line", "data: a\u{2028}b\u{2029}\n\n", [event("a\u{2028}b\u{2029}")]),
    EventCase("blank lines at the start", "\n\r\n\rdata: a\n\n", [event("a")]),
    EventCase("many blank lines between events", "data: a\n\n\n\n\ndata: b\n\n", [event("a"), event("b")]),
    EventCase("no content", "", []),
    EventCase("blank lines only", "\n\n\r\n\r", []),
  ]

  /// The same streams with each of the three line ends.
  static let everyLineEnd = ended(by: "\n", "LF") + ended(by: "\r\n", "CRLF") + ended(by: "\r", "CR")

  private static func ended(by lineEnd: String, _ name: String) -> [EventCase] {
    let streams: [(title: String, content: String, events: [ServerSentEvent])] = [
      ("one event", "data: a\n\n", [event("a")]),
      ("events of one and of two lines", "data: a\n\ndata: b\ndata: c\n\n", [event("a"), event("b\nc")]),
      ("the first of three lines is empty", "data:\ndata: b\ndata: c\n\n", [event("\nb\nc")]),
      ("the second of three lines is empty", "data: a\ndata:\ndata: c\n\n", [event("a\n\nc")]),
      ("two blank lines between events", "data: a\n\n\ndata: b\n\n", [event("a"), event("b")]),
      ("three blank lines between events", "data: a\n\n\n\ndata: b\n\n", [event("a"), event("b")]),
    ]
    return streams.map { EventCase("\(name): \($0.title)", $0.content.replacing("\n", with: lineEnd), $0.events) }
  }

  static let marks: [EventCase] = [
    EventCase("a byte order mark is removed", "\u{FEFF}data: a\n\n", [event("a")]),
    EventCase("only one byte order mark is removed", "\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [event("b")]),
    EventCase("a byte order mark before a comment", "\u{FEFF}: c\ndata: a\n\n", [event("a")]),
    EventCase("a byte order mark alone on the first line", "\u{FEFF}\ndata: a\n\n", [event("a")]),
    EventCase("a byte order mark on the second line belongs to the name", "\n\u{FEFF}data: a\n\n", []),
    EventCase("a byte order mark in data is kept", "data: \u{FEFF}a\n\n", [event("\u{FEFF}a")]),
    EventCase("a byte order mark at the start and in data", "\u{FEFF}data: \u{FEFF}a\n\n", [event("\u{FEFF}a")]),
    EventCase(
      "a byte order mark before a name and an ID", "\u{FEFF}event: add\nid: 1\ndata: a\n\n",
      [event("a", name: "add", id: "1")], id: "1"),
    EventCase("a byte order mark before several events", "\u{FEFF}data: a\n\ndata: b\n\n", [event("a"), event("b")]),
    EventCase("a byte order mark before several lines", "\u{FEFF}data: a\ndata: b\n\n", [event("a\nb")]),
    EventCase("a byte order mark before empty data", "\u{FEFF}data:\n\n", [event("")]),
    EventCase("half a byte order mark", bytes: Data([0xEF, 0xBB]) + Data("data: a\n\ndata: b\n\n".utf8), [event("b")]),
    EventCase(
      "a byte order mark of UTF-16", bytes: Data([0xFF, 0xFE]) + Data("data: a\n\ndata: b\n\n".utf8), [event("b")]),
  ]

  static let fields: [EventCase] = [
    EventCase("one space after the colon is removed", "data: a\n\n", [event("a")]),
    EventCase("no space after the colon", "data:a\n\n", [event("a")]),
    EventCase("further spaces are kept", "data:   a \n\n", [event("  a ")]),
    EventCase("a tab after the colon is kept", "data:\ta\n\n", [event("\ta")]),
    EventCase("a no-break space after the colon is kept", "data:\u{A0}a\n\n", [event("\u{A0}a")]),
    EventCase("a space before the colon belongs to the name", "data : a\ndata: b\n\n", [event("b")]),
    EventCase("a space before the name belongs to it", " data: a\ndata: b\n\n", [event("b")]),
    EventCase("a colon in the value", "data: a: b:c\n\n", [event("a: b:c")]),
    EventCase("a value of a colon", "data::\n\n", [event(":")]),
    EventCase("a field without a colon has an empty value", "data\n\n", [event("")]),
    EventCase("a field without a value", "data:\n\n", [event("")]),
    EventCase("a field with a space as its value", "data: \n\n", [event("")]),
    EventCase("no space after any colon", "event:add\nid:1\ndata:a\n\n", [event("a", name: "add", id: "1")], id: "1"),
    EventCase("name, ID and data", "event: add\nid: 1\ndata: a\n\n", [event("a", name: "add", id: "1")], id: "1"),
    EventCase("data, ID and name", "data: a\nid: 1\nevent: add\n\n", [event("a", name: "add", id: "1")], id: "1"),
    EventCase(
      "an unknown field between known ones", "event: add\nfoo: b\ndata: a\n\n", [event("a", name: "add")]),
    EventCase("two spaces", "data:  \n\n", [event(" ")]),
    EventCase("names are case-sensitive", "Data: a\nDATA: b\ndata: c\n\n", [event("c")]),
    EventCase("a longer name is unknown", "dataa: a\ndatabase: b\ndata: c\n\n", [event("c")]),
    EventCase("a shorter name is unknown", "dat: a\nd: b\ndata: c\n\n", [event("c")]),
    EventCase("unknown fields are ignored", "foo: a\nfoo\ntime: 7\ndata: b\n\n", [event("b")]),
    EventCase("an unknown field alone makes no event", "foo: a\n\n", []),
    EventCase("a name that begins with NUL is unknown", "\0data: a\n\0id: 7\ndata: b\n\n", [event("b")]),
    EventCase("a line without a field is ignored", "abc\ndata: a\n\n", [event("a")]),
    EventCase(
      "a long line without a colon is ignored", String(repeating: "x", count: 500) + "\ndata: a\n\n", [event("a")]),
    EventCase("JSON outside of a field is ignored", "{\"a\": 1}\ndata: a\n\n", [event("a")]),
  ]

  static let comments: [EventCase] = [
    EventCase("a comment", ": hello\ndata: a\n\n", [event("a")]),
    EventCase("a comment without text", ":\ndata: a\n\n", [event("a")]),
    EventCase("comments between lines of an event", "data: a\n: x\n:y\ndata: b\n\n", [event("a\nb")]),
    EventCase("a comment that looks like a field", ":data: a\ndata: b\n\n", [event("b")]),
    EventCase("two comments in a row, without a blank line", ": x\n: y\n", []),
    EventCase("a comment after an event", "data: a\n\n: x\n", [event("a")]),
    EventCase("a comment alone makes no event", ": keep-alive\n\n: keep-alive\n\n", []),
    EventCase(
      "a comment with NUL and invalid UTF-8", bytes: Data([0x3A, 0x00, 0xFF, 0x0A]) + Data("data: a\n\n".utf8),
      [event("a")]),
  ]

  static let data: [EventCase] = [
    EventCase("lines are joined by LF", "data: a\ndata: b\ndata: c\n\n", [event("a\nb\nc")]),
    EventCase("an empty line between", "data: a\ndata\ndata: c\n\n", [event("a\n\nc")]),
    EventCase("two empty lines are one LF", "data\ndata\n\n", [event("\n")]),
    EventCase("the last LF is removed, and no other", "data: a\ndata:\ndata:\n\n", [event("a\n\n")]),
    EventCase(
      "empty, LF and text, as in the standard", "data\n\ndata\ndata\n\ndata:test\n\n",
      [event(""), event("\n"), event("test")]),
    EventCase("no data, no event", "event: a\nid: 1\n\ndata: b\n\n", [event("b", id: "1")], id: "1"),
    EventCase("NUL in data is kept", "data: a\0b\n\n", [event("a\0b")]),
    EventCase("text of several bytes", "data: äöü€😀\n\n", [event("äöü€😀")]),
    EventCase(
      "invalid UTF-8 is kept as bytes", bytes: Data("data: a".utf8) + Data([0xFF, 0xC3, 0x0A, 0x0A]),
      [ServerSentEvent(data: Data([0x61, 0xFF, 0xC3]))]),
    EventCase("JSON on one line", "data: {\"a\":[1,2]}\n\n", [event("{\"a\":[1,2]}")]),
    EventCase("JSON on several lines", "data: {\ndata:  \"a\": 1\ndata: }\n\n", [event("{\n \"a\": 1\n}")]),
    EventCase(
      "100 events", (0..<100).map { "data: event \($0)\n\n" }.joined(), (0..<100).map { event("event \($0)") }),
    EventCase(
      "a line of 100,000 bytes", "data: " + String(repeating: "x", count: 100_000) + "\n\n",
      [event(String(repeating: "x", count: 100_000))]),
  ]

  static let names: [EventCase] = [
    EventCase("an event's name", "event: add\ndata: a\n\n", [event("a", name: "add")]),
    EventCase("a name after the data", "data: a\nevent: add\n\n", [event("a", name: "add")]),
    EventCase("the last name counts", "event: a\nevent: b\ndata: c\n\n", [event("c", name: "b")]),
    EventCase(
      "a name holds for one event", "event: add\ndata: a\n\ndata: b\n\n", [event("a", name: "add"), event("b")]),
    EventCase("a name does not outlast an event without data", "event: add\n\ndata: b\n\n", [event("b")]),
    EventCase("an empty name is the standard one", "event: add\nevent:\ndata: a\n\n", [event("a")]),
    EventCase("a name without a colon", "event\ndata: a\n\n", [event("a")]),
    EventCase("a name with spaces", "event:  add item \ndata: a\n\n", [event("a", name: " add item ")]),
    EventCase("a name that is written as the standard one", "event: message\ndata: a\n\n", [event("a")]),
  ]

  static let ids: [EventCase] = [
    EventCase("an ID", "id: 1\ndata: a\n\n", [event("a", id: "1")], id: "1"),
    EventCase("an ID after the data", "data: a\nid: 1\n\n", [event("a", id: "1")], id: "1"),
    EventCase(
      "an ID holds for later events", "id: 1\ndata: a\n\ndata: b\n\n", [event("a", id: "1"), event("b", id: "1")],
      id: "1"),
    EventCase("the last ID of an event counts", "id: 1\nid: 2\ndata: a\n\n", [event("a", id: "2")], id: "2"),
    EventCase("an empty ID resets it", "id: 1\ndata: a\n\nid\ndata: b\n\n", [event("a", id: "1"), event("b")]),
    EventCase(
      "an empty ID with a colon resets it", "id: 1\ndata: a\n\nid:\ndata: b\n\n", [event("a", id: "1"), event("b")]),
    EventCase(
      "an ID with NUL is ignored", "id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n",
      [event("a", id: "1"), event("b", id: "1")], id: "1"),
    EventCase("an ID of NUL is ignored", "id: \0\ndata: a\n\n", [event("a")]),
    EventCase("an ID takes effect without data", "id: 7\n\n", [], id: "7"),
    EventCase(
      "an ID of a discarded event has no effect", "id: 1\ndata: a\n\nid: 2\ndata: b\n", [event("a", id: "1")], id: "1"),
    EventCase("an ID with spaces", "id:  a b \ndata: c\n\n", [event("c", id: " a b ")], id: " a b "),
    EventCase("an ID of several bytes", "id: …\ndata: c\n\n", [event("c", id: "…")], id: "…"),
    EventCase("ID in capitals is another field", "ID: 1\ndata: a\n\n", [event("a")]),
    EventCase("an ID is not a number", "id: 007\ndata: a\n\n", [event("a", id: "007")], id: "007"),
  ]

  static let retries: [EventCase] = [
    EventCase("a reconnection time", "retry: 1500\n\n", retry: .milliseconds(1500)),
    EventCase("a reconnection time takes effect without a blank line", "retry: 7\n", retry: .milliseconds(7)),
    EventCase("zero", "retry: 0\n\n", retry: .zero),
    EventCase("leading zeros", "retry: 0010\n\n", retry: .milliseconds(10)),
    EventCase("the last one counts", "retry: 1\nretry: 2\n\n", retry: .milliseconds(2)),
    EventCase("letters", "retry: 5\nretry: 10s\n\n", retry: .milliseconds(5)),
    EventCase("a sign", "retry: +5\nretry: -5\n\n", []),
    EventCase("a fraction", "retry: 1.5\n\n", []),
    EventCase("a space after the number", "retry: 5 \n\n", []),
    EventCase("two spaces before it", "retry:  5\n\n", []),
    EventCase("an exponent", "retry: 1e3\n\n", []),
    EventCase("hexadecimal", "retry: 0x10\n\n", []),
    EventCase("digits of another script", "retry: ٣\n\n", []),
    EventCase("no value", "retry:\nretry\n\n", []),
    EventCase("too large for an integer", "retry: 99999999999999999999999\n\n", retry: .milliseconds(1 << 50)),
    EventCase("with data", "retry: 5\ndata: a\n\n", [event("a")], retry: .milliseconds(5)),
  ]

  static let ends: [EventCase] = [
    EventCase("no blank line after the last event", "data: a\n\ndata: b\n", [event("a")]),
    EventCase("no line end after the last line", "data: a\n\ndata: b", [event("a")]),
    EventCase("the end within a field's name", "data: a\n\nda", [event("a")]),
    EventCase("the end after a CR", "data: a\r", []),
    EventCase("the end between CR and LF of a blank line", "data: a\r\n\r", [event("a")]),
    EventCase("the end within a character", bytes: Data("data: a\n\ndata: ".utf8) + Data([0xC3]), [event("a")]),
    EventCase("the end within a comment", "data: a\n\n: abc", [event("a")]),
  ]

  static let standard: [EventCase] = [
    EventCase("stocks", "data: YHOO\ndata: +2\ndata: 10\n\n", [event("YHOO\n+2\n10")]),
    EventCase(
      "four blocks", ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
      [event("first event", id: "1"), event("second event")]),
    EventCase("same events", "data:test\n\ndata: test\n\n", [event("test"), event("test")]),
    EventCase(
      "names", "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n",
      [event("73857293", name: "add"), event("2153", name: "remove"), event("113411", name: "add")]),
  ]

  static let all = lineEnds + everyLineEnd + marks + fields + comments + data + names + ids + retries + ends + standard
}
