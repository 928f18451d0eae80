/// The middlewares of a client in their order: a list with named places.
public struct Pipeline: Sendable, CustomStringConvertible {
  /// Where a middleware is put.
  public enum Position: Sendable, Hashable {
    /// Ahead of everything in the slot: further out.
    case before(Slot)
    /// Behind everything in the slot: further in.
    case after(Slot)

    /// Once per call, just outside retry.
    public static let beforeRetry = Position.before(.retry)
    /// Once per attempt, just inside retry.
    public static let afterRetry = Position.after(.retry)
    /// Next to the transport.
    public static let beforeTransport = Position.before(.transport)
  }

  struct Entry: Sendable {
    let slot: Slot
    let middleware: any Middleware
  }

  private(set) var entries: [Entry] = []

  /// Makes an empty pipeline: calls go straight to the transport.
  public init() {}

  /// Puts a middleware at the outer or inner end of a slot.
  public mutating func insert(_ middleware: any Middleware, _ position: Position) {
    let entry: Entry
    let index: Int
    switch position {
    case .before(let slot):
      entry = Entry(slot: slot, middleware: middleware)
      index = entries.firstIndex { $0.slot >= slot } ?? entries.count
    case .after(let slot):
      entry = Entry(slot: slot, middleware: middleware)
      index = entries.firstIndex { $0.slot > slot } ?? entries.count
    }
    entries.insert(entry, at: index)
  }

  /// Takes every middleware of a slot out.
  public mutating func removeAll(in slot: Slot) {
    entries.removeAll { $0.slot == slot }
  }

  /// The middlewares, outermost first.
  public var middlewares: [any Middleware] { entries.map(\.middleware) }

  /// The pipeline as text, outermost first: one line a middleware with its slot.
  public var description: String {
    entries.map { "\($0.slot): \(type(of: $0.middleware))" }.joined(separator: "\n")
  }
}
