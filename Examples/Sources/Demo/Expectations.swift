/// The closing table: what the scenes claimed and what arrived at the servers.
struct Expectations: Sendable, Equatable {
  /// The rows, in the order in which they were added.
  private(set) var rows: [Check] = []
  /// The name of the expectation to break, so that one can see what a failure looks like.
  let broken: String?

  /// Makes an empty table.
  init(breaking broken: String? = nil) {
    self.broken = broken
  }

  /// Adds a row.
  mutating func add(_ row: Check) {
    var row = row
    if row.name == broken { row.expected += " and one more" }
    rows.append(row)
  }

  /// Whether there are rows and all of them are met.
  var areMet: Bool { !rows.isEmpty && rows.allSatisfy(\.isMet) && isBreakKnown }

  /// Whether a name that was to be broken exists: a mistyped one must not look like success.
  var isBreakKnown: Bool { broken.map { name in rows.contains { $0.name == name } } ?? true }

  /// The table's lines, one a row, in columns.
  var lines: [String] {
    let nameWidth = rows.map(\.name.count).max() ?? 0
    let subjectWidth = rows.map(\.subject.count).max() ?? 0
    return rows.map { row in
      let mark = row.isMet ? "✓" : "✗"
      let result = row.isMet ? row.arrived : "expected \(row.expected), arrived \(row.arrived)"
      return "\(mark) \(Self.pad(row.name, nameWidth))  \(Self.pad(row.subject, subjectWidth))  \(result)"
    }
  }

  /// What it comes to.
  var summary: String {
    let failed = rows.count { !$0.isMet }
    if let broken, !isBreakKnown { return "There is no expectation named \(broken)." }
    if rows.isEmpty { return "Nothing was expected." }
    return failed == 0
      ? "All \(rows.count) expectations are met." : "\(failed) of \(rows.count) expectations are not met."
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
