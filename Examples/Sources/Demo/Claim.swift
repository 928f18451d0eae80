import Backend

/// What a scene says a server's log must show of it, or an app itself.
struct Claim: Sendable {
  /// The expectation's name.
  let name: String
  /// The server whose log is read; `nil` for what an app showed.
  var server: Server?
  /// Method and path of the rows that count; `*` stands for any segment, or for any method and path when alone.
  let subject: String
  /// What the rows must say.
  let expected: String
  /// Turns the rows into what they say.
  var summary: @Sendable ([LoggedExchange]) -> String = Self.outcomes

  /// Whether a row counts.
  func matches(_ row: LoggedExchange) -> Bool {
    guard subject != "*" else { return true }
    let pattern = "\(subject)".split(separator: "/", omittingEmptySubsequences: false)
    let parts = "\(row.method) \(row.path)".split(separator: "/", omittingEmptySubsequences: false)
    return pattern.count == parts.count && zip(pattern, parts).allSatisfy { $0 == "*" || $0 == $1 }
  }

  /// The expectation with what arrived.
  func check(_ rows: [LoggedExchange]) -> Check {
    Check(
      name: name, subject: "\(server?.name ?? "app"): \(subject)", expected: expected,
      arrived: summary(rows.filter(matches)))
  }
}

extension Claim {
  /// What an app showed beside what it ought to have shown.
  static func app(_ name: String, _ subject: String, expected: String, shown: String) -> Claim {
    Claim(name: name, subject: subject, expected: expected) { _ in shown }
  }

  /// What became of the rows, in the order of their arrival: `422, 201`, `200 ×4`, `left, 200`.
  @Sendable
  static func outcomes(_ rows: [LoggedExchange]) -> String {
    let outcomes = rows.map { row in row.clientLeft ? "left" : row.status.map(String.init) ?? "no answer" }
    var runs: [(text: String, count: Int)] = []
    for outcome in outcomes {
      if let last = runs.last, last.text == outcome {
        runs[runs.count - 1].count += 1
      } else {
        runs.append((outcome, 1))
      }
    }
    let texts = runs.map { $0.count == 1 ? $0.text : "\($0.text) ×\($0.count)" }
    return texts.isEmpty ? "nothing" : texts.joined(separator: ", ")
  }

  /// How many rows were answered well, whatever else became of others: `200 ×20`.
  @Sendable
  static func successes(_ rows: [LoggedExchange]) -> String {
    outcomes(rows.filter { $0.status == 200 && !$0.clientLeft })
  }

  /// How many rows there are, whatever became of them.
  @Sendable
  static func count(_ rows: [LoggedExchange]) -> String { "\(rows.count)" }

  /// How many requests the server was at work on at a time, at most: what is not above a limit is as good as it.
  static func atOnce(upTo limit: Int) -> @Sendable ([LoggedExchange]) -> String {
    { rows in
      let most = rows.map(\.atWork).max() ?? 0
      return most > limit ? "\(most) at once" : "\(limit) at once or fewer"
    }
  }

  /// How many rows had no idempotency key, how many had one, and whether it was one and the same.
  @Sendable
  static func keys(_ rows: [LoggedExchange]) -> String {
    let keys = rows.compactMap(\.idempotencyKey)
    let kinds = Set(keys).count
    return "\(rows.count - keys.count) without, \(keys.count) with \(kinds == 1 ? "the same" : "\(kinds) keys")"
  }

  /// Whose credentials the rows carried.
  @Sendable
  static func credentials(_ rows: [LoggedExchange]) -> String {
    let found = Set(rows.map { $0.credential ?? "none" })
    return found.isEmpty ? "nothing" : found.sorted().joined(separator: ", ")
  }
}
