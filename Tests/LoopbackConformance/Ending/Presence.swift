import ApusTesting

/// A token that a client and its tasks retain; it is released with the last of them.
final class Presence: Sendable {
  @TaskLocal static var current: Presence?

  private let over: Gate

  /// - Parameter over: opened when the token is released.
  init(_ over: Gate) {
    self.over = over
  }

  deinit {
    over.open()
  }
}
