/// What a client does with every call, besides its pipeline and transport.
public struct ClientSettings: Sendable {
  /// Coders and styles of all calls; an endpoint's or a call's own count first.
  public var coding = CodingOptions()
  /// The most bytes of content that a call takes into memory. Default: 64 MiB.
  public var contentLimit = 64 << 20
  /// Whether calls that say nothing else share an exchange with calls that ask for the same, see
  /// ``Endpoint/coalesced(_:)``, also for what becomes of their deadlines. Default: no.
  public var coalesces = false
  /// How far calls share that did not name each other.
  public var coalescing = CoalescingLimits()
  /// The sentences of errors. Default: English.
  public var errorTexts = ErrorTexts.english
  /// Told every event of every call, in this order.
  public var observers: [any CallObserver] = []
  /// Time, tasks, randomness and ids. Default: the system's.
  public var runtime = Runtime()

  /// The defaults.
  public init() {}
}
