import Backend

/// A scene's claim about a server's log, or about the contents of an app's screen.
struct Claim: Sendable {
  /// The expectation's name.
  let name: String
  /// The server whose log is checked; `nil` for a claim about an app's screen.
  var server: Server?
  /// The method and path of the rows to check. `*` matches any path segment; `*` alone matches any request.
  let subject: String
  /// The expected summary of the rows.
  let expected: String
  /// Summarizes the rows.
  var summary: @Sendable ([LoggedExchange]) -> String = Self.outcomes

  /// Whether a row belongs to the claim.
  func matches(_ row: LoggedExchange) -> Bool {
    guard subject != "*" else { return true }
    let pattern = subject.split(separator: "/", omittingEmptySubsequences: false)
    let parts = "\(row.method) \(row.path)".split(separator: "/", omittingEmptySubsequences: false)
    return pattern.count == parts.count && zip(pattern, parts).allSatisfy { $0 == "*" || $0 == $1 }
  }

  /// Compares the claim with the rows.
  func check(_ rows: [LoggedExchange]) -> Check {
    Check(
      name: name, subject: "\(server?.name ?? "app"): \(subject)", expected: expected,
      actual: summary(rows.filter(matches)))
  }
}

/// A claim and the actual result.
struct Check: Sendable, Equatable {
  /// The expectation's name, also for `--break`.
  let name: String
  /// The subject, for example `staging: GET /friends`.
  let subject: String
  /// The expected result.
  var expected: String
  /// The actual result.
  let actual: String

  /// Whether the results are equal.
  var isMet: Bool { expected == actual }
}

extension Claim {
  /// A claim about the contents of an app's screen.
  static func app(_ name: String, _ subject: String, expected: String, shown: String) -> Claim {
    Claim(name: name, subject: subject, expected: expected) { _ in shown }
  }

  /// Summarizes the outcomes in order of arrival, for example `422, 201`, `200 ×4` or `left, 200`.
  @Sendable
  static func outcomes(_ rows: [LoggedExchange]) -> String {
    let outcomes = rows.map { row in row.clientLeft ? "left" : row.status.map(String.init) ?? "no response" }
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

  /// Summarizes only the successful rows, for example `200 ×20`.
  @Sendable
  static func successes(_ rows: [LoggedExchange]) -> String {
    outcomes(rows.filter { $0.status == 200 && !$0.clientLeft })
  }

  /// Counts the rows.
  @Sendable
  static func count(_ rows: [LoggedExchange]) -> String { "\(rows.count)" }

  /// Compares the highest number of concurrent requests with a limit.
  static func concurrency(upTo limit: Int) -> @Sendable ([LoggedExchange]) -> String {
    { rows in
      let most = rows.map(\.atWork).max() ?? 0
      return most > limit ? "\(most) concurrent" : "at most \(limit) concurrent"
    }
  }

  /// Counts the rows with and without idempotency keys, and the different keys.
  @Sendable
  static func keys(_ rows: [LoggedExchange]) -> String {
    let keys = rows.compactMap(\.idempotencyKey)
    let kinds = Set(keys).count
    return "\(rows.count - keys.count) without, \(keys.count) with \(kinds == 1 ? "the same" : "\(kinds) keys")"
  }

  /// Lists the different credentials of the rows.
  @Sendable
  static func credentials(_ rows: [LoggedExchange]) -> String {
    let found = Set(rows.map { $0.credential ?? "none" })
    return found.isEmpty ? "nothing" : found.sorted().joined(separator: ", ")
  }
}
