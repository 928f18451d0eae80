public import ApusCore

/// A description of a client: its middlewares, transport, environment and observers with their settings, and warnings
/// about settings that contradict each other. Print it at startup, or check it in a test.
///
/// ```swift
/// let description = api.describe()
/// print(description)                  // a line for each middleware, then the warnings
/// #expect(description.warnings.isEmpty)
/// ```
///
/// A description contains the client's defaults, but not the settings of endpoints (`.retry(…)`, `.timeout(…)`).
/// Credentials and the values of fields and queries are never included.
public struct ClientDescription: Sendable, Hashable, CustomStringConvertible {
  /// The middlewares, outermost first, and then the transport.
  package let layers: [Layer]
  /// The environment of new calls: its name, and its base URL without the query.
  package let environment: String
  /// The observers, in the order in which they are notified of each event.
  package let observers: [Layer]
  /// The settings that contradict each other.
  package let contradictions: [Warning]

  /// A sentence for each group of settings that contradict each other, with a code that is stable across versions, for
  /// example `[attemptLimitBeyondTotal]`. Empty for the defaults over the platform's own transport.
  ///
  /// The middlewares and transports of this package are checked. Warnings have no effect on calls.
  public var warnings: [String] { contradictions.map(\.description) }

  init(layers: [Layer], environment: String, observers: [Layer] = []) {
    self.layers = layers
    self.environment = environment
    self.observers = observers
    contradictions = Contradictions.warnings(of: layers)
  }

  /// A line for each middleware and the transport, for the environment, for each observer and for each warning.
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
  package struct Layer: Sendable, Hashable, CustomStringConvertible {
    /// The position of a layer.
    package enum Position: Sendable, Hashable, CustomStringConvertible {
      /// In a slot of the pipeline.
      case slot(Slot)
      /// The transport, below the pipeline.
      case transport
      /// An observer, outside the pipeline.
      case observer

      /// The name of the slot, `transport` or `observer`.
      package var description: String {
        switch self {
        case .slot(let slot): "\(slot)"
        case .transport: "transport"
        case .observer: "observer"
        }
      }
    }

    /// The position of the layer.
    package let position: Position
    /// The name of the layer's type.
    package let name: String
    /// The layer's settings: its facts if the layer is ``SelfDescribing``, otherwise its ``Middleware/summary``.
    package let facts: [Fact]

    init(_ place: Position, _ name: String, _ facts: [Fact]) {
      self.position = place
      self.name = name
      self.facts = facts
    }

    /// Describes a middleware, a transport or an observer.
    init(_ place: Position, _ layer: Any) {
      self.init(place, String(describing: type(of: layer)), Self.facts(of: layer))
    }

    private static func facts(of layer: Any) -> [Fact] {
      if let layer = layer as? any SelfDescribing { return layer.facts }
      guard let summary = (layer as? any Middleware)?.summary, !summary.isEmpty else { return [] }
      return [.setting(summary, "")]
    }

    /// One line, for example `retry: RetryMiddleware (3 attempts, …)`.
    package var description: String {
      let settings = facts.map(\.description).joined(separator: ", ")
      return settings.isEmpty ? "\(position): \(name)" : "\(position): \(name) (\(settings))"
    }
  }
}

extension ClientDescription {
  /// A warning about settings that contradict each other.
  package struct Warning: Sendable, Hashable, CustomStringConvertible {
    /// The kind of contradiction. Codes are stable across versions.
    package enum Code: String, Sendable, Hashable, CaseIterable {
      /// The attempt timeout is longer than the total timeout.
      case attemptLimitBeyondTotal
      /// Some attempts do not fit within the total timeout: the attempt timeout or the delays leave no time for them.
      case attemptsBeyondTotal
      /// The delay that a server requests is clamped, but not below the total timeout.
      case serverDelayBeyondTotal
      /// Retries have no delay.
      case noBackoff
      /// A retry costs more than the retry budget contains.
      case budgetTooSmall
      /// Two layers retry, so their numbers of attempts multiply.
      case attemptsMultiply
      /// Retry is inside scheduling, so permits are held during the delays between attempts.
      case permitsHeldDuringBackoff
      /// A circuit breaker is outside retry, so it neither counts nor stops single attempts.
      case breakerOutsideRetry
      /// The attempt timeout is outside retry, so it limits all attempts together.
      case attemptLimitOutsideRetry
      /// The total timeout is inside retry, so retry does not know the remaining time.
      case totalLimitInsideRetry
      /// A circuit breaker opens after fewer failures than one call has attempts.
      case breakerWithinOneCall
      /// A circuit breaker's window is shorter than two attempt timeouts.
      case breakerWindowTooShort
      /// The concurrency limit is so low that an endpoint that never responds does not open the circuit breaker.
      case breakerBeyondPermits
      /// The rate limit admits fewer exchanges than the circuit breaker needs to open.
      case breakerBeyondRate
      /// The concurrency limit is higher than the transport's connection limit.
      case permitsBeyondConnections
      /// A cache stores responses in a folder without an account, so it stores no response to a call with credentials.
      case cacheWithoutAccount
    }

    /// The kind of contradiction.
    package let code: Code
    /// A sentence with the settings and the consequence.
    package let message: String

    init(_ code: Code, _ sentence: String) {
      self.code = code
      self.message = sentence
    }

    /// The message and the code.
    package var description: String { "\(message) [\(code.rawValue)]" }
  }
}

extension Client {
  /// Describes the client: its middlewares in order, its transport and its environment with their settings, and
  /// warnings about settings that contradict each other.
  ///
  /// Use it for a log at startup and for a test of the configuration. Each call of this function creates a new
  /// description; requests are not affected.
  public func describe() -> ClientDescription {
    let parts = parts
    var layers = parts.pipeline.entries.map { ClientDescription.Layer(.slot($0.slot), $0.middleware) }
    layers.append(ClientDescription.Layer(.transport, parts.transport))
    return ClientDescription(
      layers: layers, environment: environment.description,
      observers: parts.observers.map { ClientDescription.Layer(.observer, $0) })
  }
}
