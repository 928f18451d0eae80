import Apus
import ApusNIO
import Foundation

/// Small answers, one in flight and 64: on the global pool and on an event loop.
enum Calls {
  static func compare(calls: Int, runs: Int) async throws {
    let server = try Nginx()
    defer { server.stop() }
    let raw = Raw(port: server.port)
    let pooled = try Typed(port: server.port)
    let transport = NIOTransport()
    guard let loop = transport.executor() else { return }
    let onLoop = try Typed(port: server.port, transport: transport, executor: loop)

    for inFlight in [1, 64] {
      var rows: [[Cost]] = []
      for run in 0...runs {
        let row = [
          try await Cost.of(calls, inFlight: inFlight) { try await raw.small() },
          try await Cost.of(calls, inFlight: inFlight) { try await pooled.small() },
          try await withTaskExecutorPreference(loop) {
            try await Cost.of(calls, inFlight: inFlight) { try await onLoop.small() }
          },
        ]
        // The first round warms all up.
        if run > 0 { rows.append(row) }
      }
      print("small answers, \(inFlight) in flight: \(runs) interleaved runs of \(calls); median [lowest, highest]")
      for (unit, value) in [("processor µs", \Cost.processor), ("µs", \Cost.wall)] {
        let names = ["async-http-client", "Apus, caller on the pool", "Apus, caller on an event loop"]
        for (index, name) in names.enumerated() {
          Table.report("\(name), \(unit) a call", rows.map { $0[index][keyPath: value] })
          if index > 0 { Table.report("  ratio", rows.map { $0[index][keyPath: value] / $0[0][keyPath: value] }) }
        }
      }
    }
  }

  /// One contender alone.
  static func profile(_ name: String, calls: Int, inFlight: Int) async throws {
    let server = try Nginx()
    defer { server.stop() }
    let transport = NIOTransport()
    guard let loop = transport.executor() else { return }
    let cost: Cost
    switch name {
    case "raw":
      let raw = Raw(port: server.port)
      cost = try await Cost.of(calls, inFlight: inFlight) { try await raw.small() }
    case "pool":
      let pooled = try Typed(port: server.port, transport: transport)
      cost = try await Cost.of(calls, inFlight: inFlight) { try await pooled.small() }
    default:
      let onLoop = try Typed(port: server.port, transport: transport, executor: loop)
      cost = try await withTaskExecutorPreference(loop) {
        try await Cost.of(calls, inFlight: inFlight) { try await onLoop.small() }
      }
    }
    print(cost)
  }
}

/// What one call of a run cost, in microseconds.
private struct Cost {
  let wall: Double
  let processor: Double

  static func of(
    _ calls: Int, inFlight: Int, _ call: @escaping @Sendable () async throws -> Small
  ) async throws -> Cost {
    let before = Used.now.processor
    let start = ContinuousClock.now
    if inFlight == 1 {
      for _ in 0..<calls { _ = try await call() }
    } else {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<inFlight {
          group.addTask { for _ in 0..<(calls / inFlight) { _ = try await call() } }
        }
        try await group.waitForAll()
      }
    }
    let wall = start.duration(to: .now).microseconds
    return Cost(wall: wall / Double(calls), processor: (Used.now.processor - before) / Double(calls))
  }
}
