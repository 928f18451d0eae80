import Foundation
import Measuring

/// A program that compares parsing of streams with a search for line ends by `memchr`. The streams have lines of 200
/// bytes, which are not decoded.
///
///     Streams [MiB] [runs]            all rows, interleaved
///     Streams profile NAME [passes]   one row alone, for a profiler; a part of its name is enough
@main
struct Streams {
  private struct Row {
    let name: String
    let input: Input
    let work: () async throws -> Int
    /// The name of the row to compare with, or `nil`.
    var base: String?
  }

  static func main() async throws {
    // The program runs off the main actor, because the main actor would add a thread switch every hundred elements.
    try await Task.detached { try await run() }.value
  }

  @concurrent private static func run() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let numbers = arguments.compactMap { Int($0) }
    if arguments.first == "profile" {
      try await profile(arguments[1], passes: numbers.first ?? 50)
    } else {
      try await compare(rows(mebibytes: numbers.first ?? 16), runs: numbers.dropFirst().first ?? 21)
    }
  }

  private static func rows(mebibytes: Int) -> [Row] {
    let json = Input.ndjson(mebibytes: mebibytes)
    let events = Input.events(mebibytes: mebibytes)
    let (lineCalls, eventCalls) = (
      Calls(json, mediaType: "application/x-ndjson"), Calls(events, mediaType: "text/event-stream")
    )
    let (jsonBase, eventBase) = ("memchr, NDJSON", "memchr, events")
    return [
      Row(name: jsonBase, input: json, work: { Parsers.memchr(json) }),
      Row(name: "NDJSON, split in place", input: json, work: { try Parsers.split(json, .lineFeed) }, base: jsonBase),
      Row(name: "NDJSON, copied to Data", input: json, work: { try Parsers.copies(json) }, base: jsonBase),
      Row(name: "LineStream, elements of a call", input: json, work: { try await lineCalls.lines() }, base: jsonBase),
      Row(name: eventBase, input: events, work: { Parsers.memchr(events) / 2 }),
      Row(
        name: "event lines, split in place", input: events, work: { try Parsers.split(events, .any) }, base: eventBase),
      Row(name: "events", input: events, work: { try Parsers.events(events) }, base: eventBase),
      Row(
        name: "EventStream<Data>, elements of a call", input: events, work: { try await eventCalls.events() },
        base: eventBase),
    ]
  }

  private static func seconds(_ row: Row) async throws -> Double {
    let start = ContinuousClock.now
    let found = try await row.work()
    let time = start.duration(to: .now).microseconds / 1e6
    guard found == row.input.lines else { throw Unexpected(name: row.name, found: found) }
    return time
  }

  private static func compare(_ rows: [Row], runs: Int) async throws {
    let rounds = try await interleaved(runs) {
      var times: [String: Double] = [:]
      for row in rows { times[row.name] = try await seconds(row) }
      return times
    }
    func times(_ name: String) -> [Double] { rounds.map { $0[name] ?? .nan } }
    print("lines of 200 bytes: \(runs) interleaved runs; median [lowest, highest]")
    for row in rows {
      report("\(row.name), GB/s", times(row.name).map { Double(row.input.count) / $0 / 1e9 })
      report("  ns a line", times(row.name).map { $0 * 1e9 / Double(row.input.lines) }, digits: 1)
      if let base = row.base { report("  speed / memchr", zip(times(base), times(row.name)).map { $0 / $1 }) }
    }
  }

  private static func profile(_ name: String, passes: Int) async throws {
    for row in rows(mebibytes: 16) where row.name.contains(name) {
      var total = 0.0
      for _ in 0..<passes { total += try await seconds(row) }
      print("\(row.name): \(total / Double(passes)) s")
      return
    }
  }
}

/// An error that invalidates the measurement.
struct Unexpected: Error {
  let name: String
  let found: Int
}
