/// The closing table of expectations and results.
struct Expectations: Sendable, Equatable {
  /// The rows, in order.
  private(set) var rows: [Check] = []
  /// The number of scenes that were skipped.
  private(set) var skipped = 0
  /// The name of the expectation to break, to demonstrate a failure; `nil` breaks no expectation.
  let broken: String?

  /// Creates an empty table.
  init(breaking broken: String? = nil) {
    self.broken = broken
  }

  /// Adds a row.
  mutating func add(_ row: Check) {
    var row = row
    if row.name == broken { row.expected += " and one more" }
    rows.append(row)
  }

  /// Counts a scene that was skipped, which is no failure.
  mutating func skip() { skipped += 1 }

  /// Whether there are rows and all of them are met.
  var areMet: Bool { !rows.isEmpty && rows.allSatisfy(\.isMet) && isBreakKnown }

  /// Whether the expectation to break exists. With a mistyped name the demo must fail.
  var isBreakKnown: Bool { broken.map { name in rows.contains { $0.name == name } } ?? true }

  /// The lines of the table, in columns.
  var lines: [String] {
    let nameWidth = rows.map(\.name.count).max() ?? 0
    let subjectWidth = rows.map(\.subject.count).max() ?? 0
    return rows.map { row in
      let mark = row.isMet ? "✓" : "✗"
      let result = row.isMet ? row.actual : "expected \(row.expected), got \(row.actual)"
      return "\(mark) \(row.name.padded(to: nameWidth))  \(row.subject.padded(to: subjectWidth))  \(result)"
    }
  }

  /// The result in a sentence.
  var summary: String {
    let failed = rows.count { !$0.isMet }
    if let broken, !isBreakKnown { return "There is no expectation named \(broken)." }
    if rows.isEmpty { return "There are no expectations." }
    let result =
      failed == 0 ? "All \(rows.count) expectations are met." : "\(failed) of \(rows.count) expectations are not met."
    return skipped == 0 ? result : "\(result) \(skipped) \(skipped == 1 ? "scene was" : "scenes were") skipped."
  }
}
