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
