public import ApusCore

/// What every transport must do, as a list of checks that any test framework can run.
///
/// Each check takes a transport and a server of its own, which it scripts. A new transport is done when all pass:
///
/// ```swift
/// for check in TransportConformance.checks {
///   let server = try await LoopbackServer.start()          // your adapter of a server
///   try await check.run(MyTransport(), server)
/// }
/// ```
public enum TransportConformance {
  /// All checks. Their names are sentences about a transport.
  public static let checks: [Check] =
    requestChecks + requestContentChecks + answerChecks + neutralityChecks + cancellationChecks + contentEndChecks
    + failureChecks + deadlineChecks + loadChecks

  /// One thing that a transport must do.
  public struct Check: Sendable, Identifiable, CustomStringConvertible {
    typealias Body = @Sendable (ConformanceBench) async throws -> Void

    /// The sentence.
    public let name: String
    private let body: Body

    init(_ name: String, _ body: @escaping Body) {
      self.name = name
      self.body = body
    }

    /// The sentence, which no two checks share.
    public var id: String { name }
    /// The sentence.
    public var description: String { name }

    /// Runs the check.
    ///
    /// - Parameters:
    ///   - transport: a transport that no other check uses at the same time.
    ///   - server: a server that has had no requests yet.
    ///   - limit: how long the check may take before it counts as failed. A transport that hangs is left behind.
    ///     Default: 30 seconds.
    /// - Throws: ``ConformanceFailure``, which says what the transport did; what the server throws.
    public func run(
      _ transport: any Transport, _ server: any ConformanceServer, limit: Duration = .seconds(120)
    ) async throws {
      let outcome = Watched<Result<Void, any Error>?>(nil)
      let bench = ConformanceBench(transport: transport, server: server)
      // Not child tasks: a transport that never returns must not keep the check from failing.
      let work = Task {
        do {
          try await body(bench)
          outcome.update { $0 = $0 ?? .success(()) }
        } catch {
          outcome.update { $0 = $0 ?? .failure(error) }
        }
      }
      let alarm = Task {
        try await Task.sleep(for: limit)
        outcome.update { $0 = $0 ?? .failure(ConformanceFailure("the check did not end within \(limit)")) }
      }
      defer {
        work.cancel()
        alarm.cancel()
      }
      do {
        try await outcome.first { $0 }.get()
      } catch let error as ConformanceFailure {
        throw ConformanceFailure("\(name): \(error.text)")
      }
    }
  }
}
