public import ApusCore

/// What every transport must do, as a list of checks that any test framework can run.
///
/// Each check takes a transport and a server of its own, which it scripts. A new transport is done when all pass, but
/// for those that need what it says it lacks:
///
/// ```swift
/// for check in TransportConformance.checks(lacking: [.interimResponses]) {
///   let server = try await LoopbackServer.start()          // your adapter of a server
///   try await check.run(MyTransport(), server)
/// }
/// ```
public enum TransportConformance {
  /// All checks. Their names are sentences about a transport.
  public static let checks: [Check] =
    requestChecks + requestContentChecks + answerChecks + neutralityChecks + cancellationChecks + contentEndChecks
    + failureChecks + deadlineChecks + loadChecks + interimChecks + framingChecks + limitChecks + breakingOffChecks
    + codingChecks + connectionChecks + backPressureChecks + trailerChecks

  /// What not every transport can do, however it is written. A transport that lacks one says so by this name.
  public enum Capability: String, Sendable, Hashable, CaseIterable {
    /// Tells of interim responses.
    case interimResponses = "interim responses"
    /// Refuses whatever breaks RFC 9112, within limits on what a head may cost.
    case strictFraming = "strict framing"
    /// Undoes gzip and deflate.
    case contentCodings = "content codings"
    /// Refuses coded content that breaks its coding or ends inside of it.
    case strictCodings = "strict codings"
    /// Hands over the fields that come behind content.
    case trailers
    /// Lets a slow reader slow the server down, and a slow server the maker of content.
    case backPressure = "back-pressure"
  }

  /// The checks of a transport that lacks some capabilities. Default: of one that lacks none.
  public static func checks(lacking gaps: Set<Capability> = []) -> [Check] {
    checks.filter { $0.needs.isDisjoint(with: gaps) }
  }

  /// One thing that a transport must do.
  public struct Check: Sendable, Identifiable, CustomStringConvertible {
    typealias Body = @Sendable (ConformanceBench) async throws -> Void

    /// The sentence.
    public let name: String
    /// What a transport must be able to do for the check to make sense.
    public let needs: Set<Capability>
    private let body: Body

    init(_ name: String, needs: Set<Capability> = [], _ body: @escaping Body) {
      self.name = name
      self.needs = needs
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
    ///     Default: 120 seconds.
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
