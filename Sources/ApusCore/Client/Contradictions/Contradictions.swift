/// Finds settings that contradict each other: pure. Each rule looks at what the layers say of themselves and at their
/// order, and at nothing else.
///
/// A rule tells only what is certain to be pointless or harmful: a limit that no call can reach is no contradiction
/// where another one does the same, and what depends on how a server behaves is none either. So there is none about a
/// rate that is lower than what the scheduler lets through, nor about a server's delay that is honoured for longer than
/// a call lasts: such a call fails at once, as it would for a delay that is too long.
enum Contradictions {
  typealias Layer = ClientDescription.Layer
  typealias Warning = ClientDescription.Warning

  /// What is to be said of a client's layers, outermost first, the transport last.
  static func warnings(of layers: [Layer]) -> [Warning] {
    times(layers) + order(layers) + limits(layers)
  }

  private static func times(_ layers: [Layer]) -> [Warning] {
    [
      attemptLimitBeyondTotal(layers), attemptsBeyondTotal(layers), serverDelayBeyondTotal(layers), noPauses(layers),
      budgetTooSmall(layers),
    ].compactMap { $0 }
  }

  private static func order(_ layers: [Layer]) -> [Warning] {
    [
      attemptsMultiply(layers), permitsHeldInPauses(layers), breakerOutsideRetry(layers),
      attemptLimitOutsideRetry(layers), totalLimitInsideRetry(layers),
    ].compactMap { $0 }
  }

  private static func limits(_ layers: [Layer]) -> [Warning] {
    [
      breakerWithinOneCall(layers), breakerWindowTooShort(layers), breakerBeyondPermits(layers),
      breakerBeyondRate(layers), permitsBeyondConnections(layers),
    ].compactMap { $0 }
  }
}
