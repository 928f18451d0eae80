import Apus
import ApusNIO
import Foundation
import Measuring
import WriteCounter

/// Typed calls over one HTTP/2 connection to nginx. Each client has one event loop; the callers run on the global
/// concurrent executor, if not stated otherwise.
struct HTTP2Calls {
  /// A contender and its settings.
  enum Way: String, CaseIterable {
    case raw = "async-http-client, `JSONDecoder`"
    case foundation = "Apus with `JSONDecoder`"
    case apus = "Apus"
    case wide = "Apus, up to 1,000 calls per origin"
    case loop = "the same, caller on `transport.executor()`"
    case tool = "h2load"

    static func named(_ name: String) -> Way? { allCases.first { "\($0)" == name } }
  }

  /// The cost of a call. Times are in microseconds.
  struct Cost {
    let processor: Double
    let wall: Double
    /// The number of system calls that write; `nil` for other processes.
    let writes: Double?
  }

  private let server: SecureServer
  private let raw: Raw
  private let foundation: Typed
  private let apus: Typed
  private let wide: Typed
  private let onLoop: Typed
  private let loop: any TaskExecutor

  private init(_ server: SecureServer) throws {
    self.server = server
    raw = Raw(server)
    foundation = try Typed(server) { configuration, _ in
      var coding = JSONCoding.default
      coding.coder = .foundation
      configuration.json = coding
    }
    apus = try Typed(server)
    let scheduler = { Scheduler(ConcurrencyLimits(global: .max, perOrigin: 1000)) }
    wide = try Typed(server) { configuration, _ in configuration.scheduler = scheduler() }
    var loop: (any TaskExecutor)?
    onLoop = try Typed(server) { configuration, transport in
      loop = transport.executor()
      configuration.scheduler = scheduler()
      configuration.settings.runtime.executor = loop
    }
    guard let loop else { throw Unexpected() }
    self.loop = loop
  }

  /// Compares the contenders: the object with 1, 64 and 1,000 calls in flight, 16 KB with 64.
  static func compare(runs: Int) async throws {
    let (nginx, calls) = try await start()
    defer { nginx.stop() }
    print(
      """
      \(runs) interleaved runs, one connection each; medians and lowest figures, with their ratios to the first contender

      | answer | in flight | contender | CPU µs | CPU ratio | lowest µs | lowest ratio | calls/s | writes |
      |---|---|---|---|---|---|---|---|---|
      """)
    for (answer, inFlight) in [(Answer.object, 1), (.object, 64), (.object, 1000), (.page, 64)] {
      let ways = Way.allCases.filter { ($0 != .wide || inFlight > 100) && ($0 != .tool || H2load.isInstalled) }
      let costs = try await alternating(runs, ways) {
        try await calls.cost(of: $0, answer, calls: answer.callsOverHTTP2(inFlight: inFlight), inFlight: inFlight)
      }
      let base = costs[.raw] ?? []
      for way in ways { print(row("\(answer.rawValue) | \(inFlight) | \(way.rawValue)", costs[way] ?? [], base)) }
      fflush(nil)
    }
    try await calls.raw.end()
  }

  /// Runs one contender.
  static func profile(_ way: Way, _ answer: Answer, calls count: Int, inFlight: Int) async throws {
    let (nginx, calls) = try await start()
    defer { nginx.stop() }
    print(try await calls.cost(of: way, answer, calls: count, inFlight: inFlight))
    try await calls.raw.end()
  }

  /// Starts the server and the clients. Throws if the clients get different values.
  private static func start() async throws -> (Nginx, HTTP2Calls) {
    let nginx = try Nginx(isSecure: true)
    do {
      let calls = try HTTP2Calls(
        SecureServer(port: nginx.port, certificate: Certificate(at: nginx.folder).path))
      try await calls.check()
      return (nginx, calls)
    } catch {
      nginx.stop()
      throw error
    }
  }

  private func check() async throws {
    guard try await raw.speaksHTTP2() else { throw Unexpected() }
    let (person, people) = (try await raw.person(), try await raw.people(100))
    for contender in [foundation, apus, wide, onLoop] {
      guard try await contender.person() == person, try await contender.people(100) == people else {
        throw Unexpected()
      }
    }
  }

  private func cost(of way: Way, _ answer: Answer, calls: Int, inFlight: Int) async throws -> Cost {
    switch way {
    case .raw: try await cost(of: raw, answer, calls: calls, inFlight: inFlight)
    case .foundation: try await cost(of: foundation, answer, calls: calls, inFlight: inFlight)
    case .apus: try await cost(of: apus, answer, calls: calls, inFlight: inFlight)
    case .wide: try await cost(of: wide, answer, calls: calls, inFlight: inFlight)
    case .loop:
      try await withTaskExecutorPreference(loop) {
        try await cost(of: onLoop, answer, calls: calls, inFlight: inFlight)
      }
    case .tool: try H2load.cost(server.url + answer.path, calls: 4 * calls, inFlight: inFlight)
    }
  }

  private func cost(of contender: any Contender, _ answer: Answer, calls: Int, inFlight: Int) async throws -> Cost {
    let before = write_counter_count()
    let usage: Usage
    if let count = answer.count {
      usage = try await Usage.of(calls, inFlight: inFlight) { _ = try await contender.people(count) }
    } else {
      usage = try await Usage.of(calls, inFlight: inFlight) { _ = try await contender.person() }
    }
    let writes = Double(write_counter_count() - before) / Double(calls)
    return Cost(processor: usage.processor, wall: usage.wall, writes: writes)
  }

  private static func row(_ title: String, _ costs: [Cost], _ base: [Cost]) -> String {
    let (processor, others) = (costs.map(\.processor).sorted(), base.map(\.processor).sorted())
    let (median, lowest) = (processor[processor.count / 2], processor[0])
    let wall = costs.map(\.wall).sorted()[costs.count / 2]
    let writes = costs.compactMap(\.writes).sorted()
    let cells = [
      String(format: "%.1f", median), String(format: "%.2f", median / others[others.count / 2]),
      String(format: "%.1f", lowest), String(format: "%.2f", lowest / others[0]), String(format: "%.0f", 1e6 / wall),
      writes.isEmpty ? "" : String(format: "%.2f", writes[writes.count / 2]),
    ]
    return "| \(title) | \(cells.joined(separator: " | ")) |"
  }
}

extension Answer {
  /// The path on the server.
  fileprivate var path: String { count.map { "/arrays/\($0)" } ?? "/users/7" }

  /// Returns the number of calls in a round.
  fileprivate func callsOverHTTP2(inFlight: Int) -> Int {
    switch self {
    case .object: inFlight == 1 ? 1600 : 10 * max(inFlight, 640)
    case .page: 640
    case .large: inFlight
    }
  }
}
