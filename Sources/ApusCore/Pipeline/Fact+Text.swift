extension Fact: CustomStringConvertible {
  /// The fact in a few words, for example `3 attempts`.
  public var description: String {
    switch self {
    case .totalLimit(let limit?): "\(limit.plainText) in all"
    case .totalLimit(nil): "no limit in all"
    case .attemptLimit(let limit?): "\(limit.plainText) an attempt"
    case .attemptLimit(nil): "no limit of an attempt"
    case .attempts(let count): count == 1 ? "1 attempt" : "\(count) attempts"
    case .pauses(let first, let longest): "pauses up to \(first.plainText) doubling to \(longest.plainText)"
    case .serverDelay(let limit, let isClamped): "a server's delay \(isClamped ? "cut" : "up") to \(limit.plainText)"
    case .budget(_, 0): "no budget"
    case .budget(let capacity, let cost): "budget \(capacity) at \(cost) an attempt"
    case .permits(let perOrigin, let total): Self.text(perOrigin, total, "at a time")
    case .rate(let interval, let burst): "1 request every \(interval.plainText) after \(burst) at once"
    case .failureRatio(let ratio, let minimum, let window):
      "opens at \(ratio) failed of at least \(minimum) in \(window.plainText)"
    case .failuresInARow(let count): "opens after \(count) \(count == 1 ? "failure" : "failures") in a row"
    case .connections(Int.max, Int.max): "any number of connections"
    case .connections(let perOrigin, let total): Self.text(perOrigin, total, "connections")
    case .time(let name, let time): "\(Self.line(name)) \(time?.plainText ?? "none")"
    case .setting(let name, ""): Self.line(name)
    case .setting(let name, let value): "\(Self.line(name)) \(Self.line(value))"
    }
  }

  private static func text(_ perOrigin: Int, _ total: Int, _ unit: String) -> String {
    switch (perOrigin, total) {
    case (Int.max, Int.max): "any number \(unit)"
    case (Int.max, _): "\(total) \(unit)"
    case (_, Int.max): "\(perOrigin) \(unit) to one origin"
    default: "\(perOrigin) \(unit) to one origin, \(total) in all"
    }
  }

  /// A layer is told in one line, whatever it says of itself.
  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
