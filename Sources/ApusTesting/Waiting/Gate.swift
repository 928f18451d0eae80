/// Holds tasks until a test lets them go on.
///
/// A stub's answer that waits for a gate comes when the test says so, without any clock:
///
/// ```swift
/// let gate = Gate()
/// stub.on(.get, "/slow", answer: .json("[]").waiting(for: gate))
/// async let users = api.send(.users)
/// try await gate.waitForArrivals(1)     // the call is in flight
/// gate.open()
/// ```
public final class Gate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var passes = 0
    var arrivals = 0
  }

  private let watched = Watched(State())

  /// A closed gate.
  public init() {}

  /// Whether everybody may pass.
  public var isOpen: Bool { watched.state.isOpen }

  /// How many have come to the gate so far, those who passed included.
  public var arrivals: Int { watched.state.arrivals }

  /// Opens the gate for all who wait and all who will come.
  public func open() {
    watched.update { $0.isOpen = true }
  }

  /// Lets so many pass, those first who came first; passes that nobody waits for are kept.
  public func release(_ count: Int = 1) {
    watched.update { $0.passes += count }
  }

  /// Waits until the gate is open or a pass is released.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled; no pass is used up then.
  public func wait() async throws {
    watched.update { $0.arrivals += 1 }
    try await watched.first { state in
      if state.isOpen { return }
      guard state.passes > 0 else { return nil }
      state.passes -= 1
    }
  }

  /// Waits until at least `count` have come to the gate, those who passed included.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  public func waitForArrivals(_ count: Int) async throws {
    try await watched.first { $0.arrivals >= count ? () : nil }
  }
}
