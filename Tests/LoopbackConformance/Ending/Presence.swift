import ApusTesting

/// A token that a client and the client's tasks retain. The token is released when the last of these objects is
/// released.
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
