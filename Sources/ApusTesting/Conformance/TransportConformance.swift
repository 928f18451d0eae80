public import ApusCore
import ApusWaiting

/// The conformance suite of transports: a list of checks that any test framework can run.
///
/// Each check needs a new transport and a new server, and scripts the replies of the server. A transport conforms if
/// all checks pass, except checks that need a capability that the transport lacks by declaration:
///
/// ```swift
/// for check in TransportConformance.checks(lacking: [.interimResponses]) {
///   let server = try await LoopbackServer.start()          // your server adapter
///   try await check.run(MyTransport(), server)
/// }
/// ```
public enum TransportConformance {
  /// All checks.
  package static let checks: [Check] =
    requestChecks + requestContentChecks + answerChecks + neutralityChecks + cancellationChecks + contentEndChecks
    + failureChecks + deadlineChecks + loadChecks + interimChecks + framingChecks + limitChecks + breakingOffChecks
    + codingChecks + connectionChecks + backPressureChecks + trailerChecks + earlyResponseChecks

  /// A capability that some transports cannot have.
  public enum Capability: Sendable, Hashable, CaseIterable {
    /// Reports interim responses.
    case interimResponses
    /// Refuses responses that violate RFC 9112, and limits the size of heads.
    case strictFraming
    /// Decodes gzip and deflate.
    case contentCodings
    /// Refuses encoded content that is malformed or truncated.
    case strictCodings
    /// Delivers trailers (fields after the content).
    case trailers
    /// Applies back-pressure in both directions.
    case backPressure
  }

  /// Returns the checks for a transport that lacks some capabilities. Default: none.
  public static func checks(lacking gaps: Set<Capability> = []) -> [Check] {
    checks.filter { $0.needs.isDisjoint(with: gaps) }
  }

  /// A check of one requirement.
  public struct Check: Sendable, CustomStringConvertible {
    typealias Body = @Sendable (ConformanceBench) async throws -> Void

    /// The requirement as a sentence about a transport. No two checks share a name.
    public let name: String
    /// The capabilities the check needs.
    package let needs: Set<Capability>
    private let body: Body

    init(_ name: String, needs: Set<Capability> = [], _ body: @escaping Body) {
      self.name = name
      self.needs = needs
      self.body = body
    }

    /// The name.
    public var description: String { name }

    /// Runs the check.
    ///
    /// - Parameters:
    ///   - transport: a transport that no other check uses at the same time.
    ///   - server: a server without earlier requests.
    ///   - limit: the time after which the check fails. A transport that hangs is abandoned. Default: 120 seconds.
    /// - Throws: ``ConformanceFailure``, which describes the violation; any error the server throws.
    public func run(
      _ transport: any Transport, _ server: any ConformanceServer, limit: Duration = .seconds(120)
    ) async throws {
      let outcome = Monitor<Result<Void, any Error>?>(nil)
      let bench = ConformanceBench(transport: transport, server: server)
      // Unstructured tasks, so that a check can fail although the transport never returns.
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

/// A violation that a conformance check found.
public struct ConformanceFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The violation as a sentence.
  package let text: String

  /// Creates a failure. A server adapter may throw a failure, too.
  public init(_ text: String) {
    self.text = text
  }

  /// The violation.
  public var description: String { text }
}

/// Throws a failure unless `condition` holds.
func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
  guard condition else { throw ConformanceFailure(text()) }
}

/// Throws a failure unless the values are equal.
func require<Value: Equatable>(_ value: Value, is expected: Value, _ subject: @autoclosure () -> String) throws {
  guard value == expected else { throw ConformanceFailure("\(subject()) is \(value), not \(expected)") }
}
