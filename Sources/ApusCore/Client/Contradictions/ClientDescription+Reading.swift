/// What a layer says, as the rules ask for it; of several facts of one kind the first.
extension ClientDescription.Layer {
  /// How many attempts it makes, if it makes several.
  var attempts: Int? {
    for case .attempts(let count) in facts where count > 1 { return count }
    return nil
  }

  /// The limit that it sets to a whole call; one that is endless is none.
  var totalLimit: Duration? {
    for case .totalLimit(let limit?) in facts where limit < .endless { return limit.bounded }
    return nil
  }

  /// The limit that it sets to an attempt; one that is endless is none.
  var attemptLimit: Duration? {
    for case .attemptLimit(let limit?) in facts where limit < .endless { return limit.bounded }
    return nil
  }

  /// How long it pauses at most.
  var pauses: (first: Duration, longest: Duration)? {
    for case .pauses(let first, let longest) in facts { return (first.bounded, longest.bounded) }
    return nil
  }

  /// How many exchanges to one origin, and in all, it lets through at a time, if it limits any of that.
  var permits: (perOrigin: Int, total: Int)? {
    for case .permits(let perOrigin, let total) in facts where perOrigin < Int.max || total < Int.max {
      return (max(1, perOrigin), max(1, total))
    }
    return nil
  }

  /// The ratio's part of when it opens.
  var failureWindow: (minimum: Int, length: Duration)? {
    for case .failureRatio(_, let minimum, let window) in facts { return (minimum, window.bounded) }
    return nil
  }

  /// After how many failures in a row it opens.
  var failuresInARow: Int? {
    for case .failuresInARow(let count) in facts { return count }
    return nil
  }

  /// Whether it refuses exchanges after others failed.
  var isBreaker: Bool { failureWindow != nil || failuresInARow != nil }
}
