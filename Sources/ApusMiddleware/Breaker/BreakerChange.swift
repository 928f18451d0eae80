/// A circuit that treats calls differently from now on.
public struct BreakerChange: Sendable, Hashable {
  /// Whose circuit it is.
  public let scope: BreakerScope
  /// What it does now.
  public let status: BreakerStatus

  init(_ scope: BreakerScope, _ status: BreakerStatus) {
    self.scope = scope
    self.status = status
  }
}
