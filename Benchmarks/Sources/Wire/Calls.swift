import Apus
import ApusNIO
import Measuring

/// Small responses, with callers on the global pool and on an event loop.
struct Calls {
  /// A contender and its executor.
  enum Way: String, CaseIterable {
    case raw = "async-http-client"
    case pool = "Apus, caller on the pool"
    case loop = "Apus, caller on an event loop"
  }

  private let raw: Raw
  private let pooled: Typed
  private let onLoop: Typed
  private let loop: EventLoopExecutor

  private init(port: Int) throws {
    let transport = NIOTransport()
    guard let loop = transport.executor() else { throw Unexpected() }
    self.loop = loop
    raw = Raw(port: port)
    pooled = try Typed(port: port)
    onLoop = try Typed(port: port, transport: transport, executor: loop)
  }

  private func usage(of way: Way, _ calls: Int, inFlight: Int) async throws -> Usage {
    switch way {
    case .raw: try await Usage.of(calls, inFlight: inFlight) { [raw] in _ = try await raw.small() }
    case .pool: try await Usage.of(calls, inFlight: inFlight) { [pooled] in _ = try await pooled.small() }
    case .loop:
      try await withTaskExecutorPreference(loop) {
        try await Usage.of(calls, inFlight: inFlight) { [onLoop] in _ = try await onLoop.small() }
      }
    }
  }

  /// Compares all contenders, with one call in flight and with 64.
  static func compare(calls: Int, runs: Int) async throws {
    let server = try Nginx()
    defer { server.stop() }
    let lineup = try Calls(port: server.port)
    for inFlight in [1, 64] {
      let rows = try await interleaved(runs) {
        var row: [Usage] = []
        for way in Way.allCases { row.append(try await lineup.usage(of: way, calls, inFlight: inFlight)) }
        return row
      }
      print("small responses, \(inFlight) in flight: \(runs) interleaved runs of \(calls); median [lowest, highest]")
      for (unit, value) in [("processor µs", \Usage.processor), ("µs", \Usage.wall)] {
        for (index, way) in Way.allCases.enumerated() {
          report("\(way.rawValue), \(unit) a call", rows.map { $0[index][keyPath: value] })
          if index > 0 { report("  ratio", rows.map { $0[index][keyPath: value] / $0[0][keyPath: value] }) }
        }
      }
    }
  }

  /// Runs one contender by the name of its case.
  static func profile(_ name: String, calls: Int, inFlight: Int) async throws {
    guard let way = Way.allCases.first(where: { "\($0)" == name }) else { throw Unexpected() }
    let server = try Nginx()
    defer { server.stop() }
    print(try await Calls(port: server.port).usage(of: way, calls, inFlight: inFlight))
  }
}
