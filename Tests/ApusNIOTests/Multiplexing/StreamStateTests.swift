import HTTPTypes
import NIOCore
import Testing

@testable import ApusNIO

/// An event of the server on a stream.
private enum StreamEvent: CustomTestStringConvertible {
  case fields([(String, String)], isLast: Bool = false)
  case content(Int, isLast: Bool = false)

  static func head(_ status: Int, _ fields: (String, String)..., isLast: Bool = false) -> StreamEvent {
    .fields([(":status", "\(status)")] + fields, isLast: isLast)
  }

  var testDescription: String {
    switch self {
    case .fields(let fields, let isLast): "\(fields.map { "\($0): \($1)" })\(isLast ? " end" : "")"
    case .content(let count, let isLast): "content \(count)\(isLast ? " end" : "")"
    }
  }
}

private struct Example: CustomTestStringConvertible {
  let name: String
  var method = HTTPRequest.Method.get
  let events: [StreamEvent]
  var violation: FrameViolation?
  /// The length of the content that the head announces.
  var length: Int64?

  var testDescription: String { name }
}

@Suite("The frames of a stream")
struct StreamStateTests {
  private static let length = ("content-length", "5")

  private static let complete: [Example] = [
    Example(name: "a head alone", events: [.head(200, isLast: true)], length: 0),
    Example(name: "content of unknown length", events: [.head(200), .content(3), .content(4, isLast: true)]),
    Example(name: "content of known length", events: [.head(200, length), .content(5, isLast: true)], length: 5),
    Example(
      name: "an empty last frame", events: [.head(200, length), .content(5), .content(0, isLast: true)], length: 5),
    Example(
      name: "trailers", events: [.head(200, length), .content(5), .fields([("digest", "x")], isLast: true)], length: 5),
    Example(
      name: "interim heads", events: [.head(103, ("link", "x")), .head(100), .head(204, isLast: true)], length: 0),
    Example(name: "HEAD with a length", method: .head, events: [.head(200, length, isLast: true)], length: 0),
    Example(name: "304 with a length", events: [.head(304, length, isLast: true)], length: 0),
    Example(name: "204 with an empty frame", events: [.head(204), .content(0, isLast: true)], length: 0),
    Example(name: "a length of 0", events: [.head(200, ("content-length", "0"), isLast: true)], length: 0),
  ]

  private static let broken: [Example] = [
    Example(name: "content before the head", events: [.content(1)], violation: .earlyContent(1)),
    Example(name: "content after an interim head", events: [.head(100), .content(1)], violation: .earlyContent(1)),
    Example(
      name: "content of HEAD", method: .head, events: [.head(200), .content(1)], violation: .unexpectedContent(1)),
    Example(name: "content of 204", events: [.head(204), .content(1)], violation: .unexpectedContent(1)),
    Example(name: "content of 304", events: [.head(304), .content(1)], violation: .unexpectedContent(1)),
    Example(name: "a missing byte", events: [.head(200, length), .content(4, isLast: true)], violation: wrongLength),
    Example(name: "an extra byte", events: [.head(200, length), .content(6)], violation: wrongLength),
    Example(name: "a length without content", events: [.head(200, length, isLast: true)], violation: wrongLength),
    Example(
      name: "trailers after a missing byte", events: [.head(200, length), .content(4), .fields([], isLast: true)],
      violation: wrongLength),
    Example(
      name: "an interim head that ends the stream", events: [.head(100, isLast: true)],
      violation: .fields(FieldFault(.finalInterim), 1)),
    Example(
      name: "trailers that do not end the stream", events: [.head(200), .fields([("a", "b")])],
      violation: .fields(FieldFault(.unfinishedTrailers), 1)),
    Example(
      name: "trailers with a status", events: [.head(200), .head(200, isLast: true)],
      violation: .fields(FieldFault(.pseudoFieldInTrailers), 1)),
    Example(
      name: "a head without a status", events: [.fields([("a", "b")])],
      violation: .fields(FieldFault(.missingStatus), 1)),
    Example(
      name: "content after the end", events: [.head(200, isLast: true), .content(1)], violation: .closedStream(.data, 1)
    ),
    Example(
      name: "fields after the end", events: [.head(200, isLast: true), .fields([("a", "b")], isLast: true)],
      violation: .closedStream(.headers, 1)),
    Example(
      name: "too many interim heads", events: Array(repeating: .head(103), count: 4),
      violation: .fields(FieldFault(.tooManyInterims), 1)),
    Example(
      name: "too many fields in all heads",
      events: Array(repeating: .head(103, ("a", "b"), ("c", "d"), ("e", "f")), count: 3),
      violation: .fields(FieldFault(.tooManyFields), 1)),
    Example(
      name: "too large fields in all heads",
      events: [
        .head(103, ("a", String(repeating: "a", count: 300))), .head(200, ("a", String(repeating: "a", count: 300))),
      ],
      violation: .fields(FieldFault(.fieldsTooLarge), 1)),
  ]

  private static let wrongLength = FrameViolation.fields(FieldFault(.wrongContentLength), 1)
  private static let limits = FramingLimits(fieldBytes: 640, fieldCount: 10, interimCount: 3)

  /// Plays the events. Returns the length that the head announces.
  private func play(_ example: Example, _ state: inout StreamState) throws -> Int64? {
    var decoder = FieldDecoder()
    var length: Int64? = -1
    for event in example.events {
      switch event {
      case .content(let count, let isLast): try state.receive(contentBytes: count, isLast: isLast)
      case .fields(let fields, let isLast):
        let block = try decoder.block(fields.flatMap { literal($0, $1) }, limits: Self.limits)
        if case .head(_, let announced) = try state.receive(block, isLast: isLast) {
          length = announced
          _ = state.progress.headArrived(isSuccess: true, isContentHeld: false)
        }
      }
    }
    return length
  }

  private func makeState(_ method: HTTPRequest.Method) -> StreamState {
    StreamState(1, method: method, window: 65_535, limits: Self.limits)
  }

  @Test("A response in the right order is complete at its last frame", arguments: complete)
  private func completes(_ example: Example) throws {
    var state = makeState(example.method)
    #expect(try play(example, &state) == example.length)
    #expect(state.isResponseOver)
  }

  @Test("A response in the wrong order is a stream error", arguments: broken)
  private func breaks(_ example: Example) {
    var state = makeState(example.method)
    let error = #expect(throws: FrameViolation.self) { try play(example, &state) }
    #expect(error == example.violation)
  }
}
