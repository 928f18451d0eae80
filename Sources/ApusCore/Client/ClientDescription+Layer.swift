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
