import Apus
import Measuring

/// A measurement of the control middlewares (retry, scheduling, breaker and so on) while nothing fails and no call is
/// queued. It compares the default pipeline, the pipeline without control middlewares, and the pipeline with one
/// control middleware.
enum Control {
  /// A variant of the same call.
  private struct Way {
    let name: String
    let api: Client
  }

  /// The slots of the measured middlewares and their names.
  private static let layers: [(slot: Slot, name: String)] = [
    (.coalescing, "coalescing"), (.retry, "retry"), (.scheduling, "scheduler"), (.attemptTimeout, "attempt timeout"),
    (.rateLimit, "rate limit"), (.breaker, "breaker"),
  ]

  /// Measures all variants alternately in short runs, forwards and backwards, so that other load affects them
  /// equally.
  static func compare(calls: Int = 5000, runs: Int = 21) async throws {
    let ways = lineup()
    var isForward = false
    let rows = try await interleaved(runs) {
      isForward.toggle()
      return try await round(ways, calls, isForward: isForward)
    }
    print("control middlewares, no failures: \(runs) interleaved runs of \(calls) calls; median [lowest, highest],")
    print("of differences and ratios within a run: median [95 % confidence interval]")
    for (index, way) in ways.enumerated() {
      report("\(way.name), ns", rows.map { $0[index].nanoseconds }, digits: 0)
      report("  allocations", rows.map { $0[index].allocations }, digits: 1)
      guard index > 0 else { continue }
      report("  ns more", boundsOfMedian(rows.map { $0[index].nanoseconds - $0[0].nanoseconds }), digits: 0)
      report("  ratio", boundsOfMedian(rows.map { $0[index].nanoseconds / $0[0].nanoseconds }))
      report(
        "  additional allocations", boundsOfMedian(rows.map { $0[index].allocations - $0[0].allocations }), digits: 1)
    }
  }

  private static func round(_ ways: [Way], _ calls: Int, isForward: Bool) async throws -> [Cost] {
    let request: Request<Void> = .method(.get, "/users/\(7)/friends")
    var costs = ways.map { _ in Cost(nanoseconds: 0, allocations: 0) }
    let order: [Int] = isForward ? Array(ways.indices) : ways.indices.reversed()
    for index in order {
      let api = ways[index].api
      let cost = try await Cost.of(calls) { try await api.send(request) }
      costs[index] = cost
    }
    return costs
  }

  /// Returns the variants. The first variant is the baseline.
  private static func lineup() -> [Way] {
    let limiter = RateLimiter(.perSecond(1_000_000))
    let all = layers.map { $0.slot }
    var ways = [
      Way(name: "default pipeline without them", api: client(with: [])),
      Way(name: "default pipeline", api: client(with: all)),
    ]
    for (slot, name) in layers where isInDefaultPipeline(slot) {
      ways.append(Way(name: "\(name) alone", api: client(with: [slot])))
    }
    let limited = client(with: [.rateLimit]) { $0.rateLimiter = limiter }
    ways.append(Way(name: "a rate limit that is never reached, alone", api: limited))
    let sharing = client(with: [.coalescing]) { $0.settings.coalesces = true }
    ways.append(Way(name: "coalescing without waiters, alone", api: sharing))
    return ways
  }

  private static func isInDefaultPipeline(_ slot: Slot) -> Bool {
    var pipeline = Configuration(baseURL: "https://api.example.com/v1").pipeline
    let description = pipeline.description
    pipeline.removeAll(in: slot)
    return pipeline.description != description
  }

  /// Creates a client with the default pipeline, reduced to the named control middlewares.
  private static func client(with kept: [Slot], _ change: (inout Configuration) -> Void = { _ in }) -> Client {
    let removed = layers.map { $0.slot }.filter { !kept.contains($0) }
    return CallOverhead.client(NoTransport(content: .empty)) {
      change(&$0)
      $0.customizePipeline = { pipeline in
        for slot in removed { pipeline.removeAll(in: slot) }
      }
    }
  }
}
