import Apus
import ApusNIO
import Foundation
import Measuring

/// Typed calls whose response is JSON, with callers on the global concurrent executor and on an event loop.
struct Calls {
  /// A contender and the executor of its callers.
  enum Way: String, CaseIterable {
    case raw = "async-http-client, `JSONDecoder`"
    case rawOnLoop = "the same, caller on an event loop"
    case byHand = "SwiftNIO by hand, `JSONDecoder`"
    case foundation = "Apus with `JSONDecoder`"
    case pool = "Apus"
    case direct = "Apus, objects that read themselves"
    case loop = "Apus, caller on `transport.executor()`"

    /// Returns the contender with the name of its case.
    static func named(_ name: String) -> Way? { allCases.first { "\($0)" == name } }
  }

  private let raw: Raw
  private let byHand: ByHand
  private let foundation: Typed
  private let pooled: Typed
  private let onLoop: Typed
  private let loop: any TaskExecutor

  private init(port: Int) async throws {
    let transport = NIOTransport(options: .wire)
    guard let loop = transport.executor() else { throw Unexpected() }
    self.loop = loop
    raw = Raw(port: port)
    byHand = try await ByHand(port: port, connections: connectionLimit)
    foundation = try Typed.withFoundation(port: port)
    pooled = try Typed(port: port)
    onLoop = try Typed(port: port, transport: transport, executor: loop)
  }

  private func usage(of way: Way, _ answer: Answer, calls: Int, inFlight: Int) async throws -> Usage {
    switch way {
    case .raw: return try await usage(of: raw, answer, calls: calls, inFlight: inFlight)
    case .foundation: return try await usage(of: foundation, answer, calls: calls, inFlight: inFlight)
    case .pool: return try await usage(of: pooled, answer, calls: calls, inFlight: inFlight)
    case .direct:
      guard let count = answer.count else {
        return try await Usage.of(calls, inFlight: inFlight) { [pooled] in _ = try await pooled.directPerson() }
      }
      return try await Usage.of(calls, inFlight: inFlight) { [pooled] in _ = try await pooled.directPeople(count) }
    case .rawOnLoop, .loop:
      let contender: any Contender = way == .loop ? onLoop : raw
      return try await withTaskExecutorPreference(loop) {
        try await usage(of: contender, answer, calls: calls, inFlight: inFlight)
      }
    case .byHand:
      guard let count = answer.count else {
        return try await Usage.byCaller(calls, inFlight: inFlight) { [byHand] in
          _ = try await byHand.person(by: $0)
        }
      }
      return try await Usage.byCaller(calls, inFlight: inFlight) { [byHand] in
        _ = try await byHand.people(count, by: $0)
      }
    }
  }

  private func usage(
    of contender: any Contender, _ answer: Answer, calls: Int, inFlight: Int
  ) async throws -> Usage {
    guard let count = answer.count else {
      return try await Usage.of(calls, inFlight: inFlight) { _ = try await contender.person() }
    }
    return try await Usage.of(calls, inFlight: inFlight) { _ = try await contender.people(count) }
  }

  /// Compares all contenders, for each answer, with one call in flight and with 64.
  static func compare(_ answers: [Answer] = Answer.allCases, runs: Int) async throws {
    let server = try Nginx()
    defer { server.stop() }
    let lineup = try await Calls(port: server.port)
    try await lineup.check()
    print(
      """
      \(runs) interleaved runs, \(connectionLimit) connections each; ratio to the first row: median [lowest, highest]

      | answer | in flight | contender | processor µs | ratio | elapsed µs | ratio |
      |---|---|---|---|---|---|---|
      """)
    for answer in answers {
      for inFlight in [1, connectionLimit] {
        let rows = try await interleaved(runs) {
          var row: [Usage] = []
          for way in Way.allCases {
            row.append(
              try await lineup.usage(of: way, answer, calls: answer.calls(inFlight: inFlight), inFlight: inFlight))
          }
          return row
        }
        for (index, way) in Way.allCases.enumerated() {
          let cells = [\Usage.processor, \.wall].flatMap { value in
            [
              median(rows.map { $0[index][keyPath: value] }),
              spread(rows.map { $0[index][keyPath: value] / $0[0][keyPath: value] }),
            ]
          }
          print("| \(answer.rawValue) | \(inFlight) | \(way.rawValue) | \(cells.joined(separator: " | ")) |")
        }
        fflush(nil)
      }
    }
    try await lineup.raw.end()
  }

  /// Throws if the contenders get different values.
  private func check() async throws {
    let contenders: [any Contender] = [raw, foundation, pooled, onLoop]
    let (person, people) = (try await byHand.person(by: 0), try await byHand.people(100, by: 0))
    for contender in contenders {
      guard try await contender.person() == person, try await contender.people(100) == people else {
        throw Unexpected()
      }
    }
  }

  static func median(_ values: [Double]) -> String {
    String(format: "%.1f", values.sorted()[values.count / 2])
  }

  static func spread(_ ratios: [Double]) -> String {
    let sorted = ratios.sorted()
    return String(format: "%.2f [%.2f, %.2f]", sorted[sorted.count / 2], sorted[0], sorted[sorted.count - 1])
  }

  /// Runs one contender.
  static func profile(_ way: Way, _ answer: Answer, calls: Int, inFlight: Int) async throws {
    let server = try Nginx()
    defer { server.stop() }
    let lineup = try await Calls(port: server.port)
    print(try await lineup.usage(of: way, answer, calls: calls, inFlight: inFlight))
    try await lineup.raw.end()
  }
}
