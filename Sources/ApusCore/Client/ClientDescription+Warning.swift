extension ClientDescription {
  /// Two settings that contradict each other.
  public struct Warning: Sendable, Hashable, CustomStringConvertible {
    /// Which two; stays the same from version to version.
    public enum Code: String, Sendable, Hashable, CaseIterable {
      /// One attempt may take longer than the whole call.
      case attemptLimitBeyondTotal
      /// The limit of an attempt leaves no time for another one, or pauses leave none for the last ones.
      case attemptsBeyondTotal
      /// A server's delay is cut, but not to less than the whole call has.
      case serverDelayBeyondTotal
      /// Attempts follow each other without a pause.
      case noPauses
      /// There is less to spend on further attempts than one costs.
      case budgetTooSmall
      /// Two layers make several attempts each, so their numbers multiply.
      case attemptsMultiply
      /// Retry stands inside scheduling: permits are held while it pauses.
      case permitsHeldInPauses
      /// A breaker stands outside retry: it neither counts attempts nor stops them.
      case breakerOutsideRetry
      /// The limit of an attempt stands outside retry: it limits all attempts together.
      case attemptLimitOutsideRetry
      /// The limit of the whole call stands inside retry, which does not see it.
      case totalLimitInsideRetry
      /// A breaker opens after fewer failures than one call has attempts.
      case breakerWithinOneCall
      /// A breaker looks back for less than two attempts may take.
      case breakerWindowTooShort
      /// So few exchanges run at a time that a server which answers none of them never opens the breaker.
      case breakerBeyondPermits
      /// The rate limit lets through fewer exchanges than the breaker needs to judge.
      case breakerBeyondRate
      /// More exchanges are let through at a time than the transport has connections for.
      case permitsBeyondConnections
    }

    /// Which settings.
    public let code: Code
    /// What they are, and what comes of it.
    public let sentence: String

    init(_ code: Code, _ sentence: String) {
      self.code = code
      self.sentence = sentence
    }

    /// The sentence and the code.
    public var description: String { "\(sentence) [\(code.rawValue)]" }
  }
}
