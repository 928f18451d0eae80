public import ApusCore

/// What a client is made of, and what about it cannot be meant: a value that prints, and that a test can look at.
///
/// ```swift
/// let description = api.describe()
/// print(description)                  // a line for each layer, then the warnings
/// #expect(description.warnings.isEmpty)
/// #expect(description.layers.contains { $0.facts.contains(.attempts(3)) })
/// ```
///
/// It tells what holds for calls that say nothing else; what an endpoint sets for itself (`.retry(…)`, `.timeout(…)`)
/// is not in it. Credentials, values of fields and of queries are never in it.
public struct ClientDescription: Sendable, Hashable, CustomStringConvertible {
  /// The middlewares, outermost first, and then the transport.
  public let layers: [Layer]
  /// The environment of calls that begin now: its name, and its base URL without the query.
  public let environment: String
  /// Who is told of every event, in this order.
  public let observers: [Layer]
  /// Settings that contradict each other, as far as the layers tell (``SelfDescribing``). Empty for the defaults over
  /// the platform's own transport.
  ///
  /// Nothing is refused for them: calls do what they are told.
  public let warnings: [Warning]

  init(layers: [Layer], environment: String, observers: [Layer] = []) {
    self.layers = layers
    self.environment = environment
    self.observers = observers
    warnings = Contradictions.warnings(of: layers)
  }

  /// A line for each layer, for the environment, for each observer and for each warning.
  public var description: String {
    var lines = layers.map(\.description)
    lines.append("environment: \(environment)")
    lines.append(contentsOf: observers.map(\.description))
    lines.append(contentsOf: warnings.map { "warning: \($0)" })
    return lines.joined(separator: "\n")
  }
}

extension ClientDescription {
  /// One middleware, the transport or one observer of a client.
  public struct Layer: Sendable, Hashable, CustomStringConvertible {
    /// Where it stands.
    public enum Place: Sendable, Hashable, CustomStringConvertible {
      /// In a slot of the pipeline.
      case slot(Slot)
      /// Where the exchanges are made.
      case transport
      /// Beside the pipeline.
      case observer

      /// The name of the slot, `transport` or `observer`.
      public var description: String {
        switch self {
        case .slot(let slot): "\(slot)"
        case .transport: "transport"
        case .observer: "observer"
        }
      }
    }

    /// Where it stands.
    public let place: Place
    /// The name of its type.
    public let name: String
    /// What it is set to; empty when it does not say.
    public let facts: [Fact]

    init(_ place: Place, _ name: String, _ facts: [Fact]) {
      self.place = place
      self.name = name
      self.facts = facts
    }

    /// Asks whatever stands at a place.
    init(_ place: Place, _ layer: Any) {
      self.init(place, String(describing: type(of: layer)), (layer as? any SelfDescribing)?.facts ?? [])
    }

    /// One line, for example `retry: Retry (3 attempts, …)`.
    public var description: String {
      let settings = facts.map(\.description).joined(separator: ", ")
      return settings.isEmpty ? "\(place): \(name)" : "\(place): \(name) (\(settings))"
    }
  }
}

extension ClientDescription {
  /// Two settings that contradict each other.
  public struct Warning: Sendable, Hashable, CustomStringConvertible {
    /// Which two; stays the same from version to version.
    public enum Code: String, Sendable, Hashable, CaseIterable {
      /// One attempt may take longer than the whole call.
      case attemptLimitBeyondTotal
      /// The limit of an attempt leaves no time for another one, or pauses leave none for the last ones.
      case attemptsBeyondTotal
      /// A server's delay is cut, but not to less than the whole call has.
      case serverDelayBeyondTotal
      /// Attempts follow each other without a pause.
      case noPauses
      /// There is less to spend on further attempts than one costs.
      case budgetTooSmall
      /// Two layers make several attempts each, so their numbers multiply.
      case attemptsMultiply
      /// Retry stands inside scheduling: permits are held while it pauses.
      case permitsHeldInPauses
      /// A breaker stands outside retry: it neither counts attempts nor stops them.
      case breakerOutsideRetry
      /// The limit of an attempt stands outside retry: it limits all attempts together.
      case attemptLimitOutsideRetry
      /// The limit of the whole call stands inside retry, which does not see it.
      case totalLimitInsideRetry
      /// A breaker opens after fewer failures than one call has attempts.
      case breakerWithinOneCall
      /// A breaker looks back for less than two attempts may take.
      case breakerWindowTooShort
      /// So few exchanges run at a time that a server which answers none of them never opens the breaker.
      case breakerBeyondPermits
      /// The rate limit lets through fewer exchanges than the breaker needs to judge.
      case breakerBeyondRate
      /// More exchanges are let through at a time than the transport has connections for.
      case permitsBeyondConnections
    }

    /// Which settings.
    public let code: Code
    /// What they are, and what comes of it.
    public let sentence: String

    init(_ code: Code, _ sentence: String) {
      self.code = code
      self.sentence = sentence
    }

    /// The sentence and the code.
    public var description: String { "\(sentence) [\(code.rawValue)]" }
  }
}

extension Client {
  /// Describes the client: its middlewares in order, its transport and its environment with their settings, and warnings
  /// about settings that contradict each other.
  ///
  /// For logs at startup and for a test of the configuration. The description is made anew each time and costs calls
  /// nothing.
  public func describe() -> ClientDescription {
    let parts = parts
    var layers = parts.pipeline.entries.map { ClientDescription.Layer(.slot($0.slot), $0.middleware) }
    layers.append(ClientDescription.Layer(.transport, parts.transport))
    return ClientDescription(
      layers: layers, environment: environment.description,
      observers: parts.observers.map { ClientDescription.Layer(.observer, $0) })
  }
}
