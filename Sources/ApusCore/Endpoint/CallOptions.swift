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
