/// What a call carries besides its message: identity, tags, limits, settings.
public struct CallOptions: Sendable {
  /// The id the app gave the call; `nil`: a number of the client's.
  public var id: CallID?
  /// What happens when a running call has the same id.
  public var duplicates: DuplicatePolicy = .allow
  /// Whether it shares the exchange of any call that asks for the same, see ``Endpoint/coalesced(_:)``; `nil`: as the
  /// client does.
  public var coalesces: Bool?
  /// Tags to find and cancel the call by.
  public var tags: [Tag] = []
  /// The time limit of the whole call; `nil`: the client's default. A hundred years or more: none.
  public var timeout: Duration?
  /// The most bytes of content taken into memory; `nil`: the client's.
  public var contentLimit: Int?
  /// Coders and styles of this call; what is `nil` is the client's.
  public var coding: CodingOptions?
  /// Settings for middlewares, by key.
  public var values = ContextValues()

  /// No identity, no tags, the client's limits and settings.
  public init() {}
}

/// What happens when a call names an id that a running call has already.
public enum DuplicatePolicy: Sendable, Hashable {
  /// Both run; the id then stands for both.
  case allow
  /// The new call ends at once with the code ``CallError/Code/declined``; nothing is sent.
  case refuse
  /// The running calls end as superseded, the new one runs: latest wins.
  case replace
  /// The new call shares the running one's exchange when both send the same message; each decodes for
  /// itself, has its own deadline and can be cancelled alone. The exchange has none, see
  /// ``Endpoint/coalesced(_:)``.
  case join
}

/// Marks calls that belong together, for example all images.
public struct Tag: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The tag's name.
  public let name: String

  /// Makes a tag.
  public init(_ name: String) {
    self.name = name
  }

  /// Makes a tag of a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The name.
  public var description: String { name }
}
