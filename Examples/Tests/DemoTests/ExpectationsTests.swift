import Testing

@testable import Demo

@Suite struct ExpectationsTests {
  private func row(_ name: String, _ expected: String, _ actual: String) -> Check {
    Check(name: name, subject: "GET /friends", expected: expected, actual: actual)
  }

  private func table(breaking broken: String? = nil, _ rows: Check...) -> Expectations {
    var table = Expectations(breaking: broken)
    for row in rows { table.add(row) }
    return table
  }

  @Test("The expectations are met when every row is met")
  func met() {
    #expect(table(row("a", "200", "200"), row("b", "204", "204")).areMet)
    #expect(!table(row("a", "200", "200"), row("b", "204", "404")).areMet)
  }

  @Test("Expectations without rows are not met")
  func empty() {
    #expect(!table().areMet)
    #expect(table().summary == "There are no expectations.")
  }

  @Test("Breaking one row does not affect the other rows")
  func breaking() {
    let table = table(breaking: "b", row("a", "200", "200"), row("b", "200", "200"))
    #expect(table.rows.map(\.isMet) == [true, false])
    #expect(!table.areMet)
    #expect(table.summary == "1 of 2 expectations are not met.")
  }

  @Test("Breaking a row that does not exist is a failure")
  func unknown() {
    let table = table(breaking: "c", row("a", "200", "200"))
    #expect(!table.areMet)
    #expect(table.summary == "There is no expectation named c.")
  }

  @Test("A skipped scene is counted, but is not a failure")
  func skipped() {
    var table = table(row("a", "200", "200"))
    table.skip()
    #expect(table.areMet)
    #expect(table.summary == "All 1 expectations are met. 1 scene was skipped.")
    table.skip()
    #expect(table.summary == "All 1 expectations are met. 2 scenes were skipped.")
  }

  @Test("Rows are aligned in columns, and an unmet row contains both results")
  func lines() {
    let table = table(row("a", "200", "200"), row("longer", "200", "left"))
    #expect(
      table.lines == [
        "✓ a       GET /friends  200",
        "✗ longer  GET /friends  expected 200, got left",
      ])
  }
}
