import Apus
import Foundation
import Measuring
import Synchronization

/// Calls on an HTTP/2 connection on which the reader of another response has stopped.
enum HTTP2Stopped {
  private enum Way: String, CaseIterable {
    case alone = "alone"
    case beside = "beside a stopped reader"
  }

  /// Times of calls in microseconds.
  private struct Times {
    let median: Double
    let p99: Double
  }

  private static let callers = 63
  private static let callsOfCaller = 100

  /// Compares the times of 63 concurrent calls alone, and while a response of 64 MiB on the same connection is not read.
  static func compare(runs: Int) async throws {
    let nginx = try Nginx(mebibytes: 64, isSecure: true)
    defer { nginx.stop() }
    let client = try Typed(SecureServer(port: nginx.port, certificate: Certificate(at: nginx.folder).path))
    let times = try await alternating(runs, Way.allCases) { way in
      guard way == .beside else { return try await calls(client) }
      return try await client.api.withResponse(to: Request<Content>.get("/big")) { response in
        _ = try await response.next()
        return try await calls(client)
      }
    }
    print(
      """
      \(runs) interleaved runs of \(callers * callsOfCaller) calls, \(callers) in flight, on one connection; medians

      | calls | contender | median µs | p99 µs | p99 ratio |
      |---|---|---|---|---|
      """)
    func middle(_ way: Way, _ figure: (Times) -> Double) -> Double {
      let sorted = (times[way] ?? []).map(figure).sorted()
      return sorted[sorted.count / 2]
    }
    for way in Way.allCases {
      let cells = [
        String(format: "%.0f", middle(way, \.median)), String(format: "%.0f", middle(way, \.p99)),
        String(format: "%.2f", middle(way, \.p99) / middle(.alone, \.p99)),
      ]
      print("| \(callers) in flight | \(way.rawValue) | \(cells.joined(separator: " | ")) |")
    }
    fflush(nil)
  }

  private static func calls(_ client: Typed) async throws -> Times {
    let times = Mutex<[Double]>([])
    _ = try await Usage.byCaller(callers * callsOfCaller, inFlight: callers) { _ in
      let start = ContinuousClock.now
      _ = try await client.person()
      times.withLock { $0.append(start.duration(to: .now).microseconds) }
    }
    let sorted = times.withLock { $0.sorted() }
    return Times(median: sorted[sorted.count / 2], p99: sorted[sorted.count * 99 / 100])
  }
}
