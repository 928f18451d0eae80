import Testing

@testable import Demo

@Suite struct ExpectationsTests {
  private func row(_ name: String, _ expected: String, _ arrived: String) -> Check {
    Check(name: name, subject: "GET /friends", expected: expected, arrived: arrived)
  }

  private func table(breaking broken: String? = nil, _ rows: Check...) -> Expectations {
    var table = Expectations(breaking: broken)
    for row in rows { table.add(row) }
    return table
  }

  @Test("a table is met when every row is")
  func met() {
    #expect(table(row("a", "200", "200"), row("b", "204", "204")).areMet)
    #expect(!table(row("a", "200", "200"), row("b", "204", "404")).areMet)
  }

  @Test("an empty table proves nothing")
  func empty() {
    #expect(!table().areMet)
    #expect(table().summary == "Nothing was expected.")
  }

  @Test("breaking one row breaks that row alone")
  func breaking() {
    let table = table(breaking: "b", row("a", "200", "200"), row("b", "200", "200"))
    #expect(table.rows.map(\.isMet) == [true, false])
    #expect(!table.areMet)
    #expect(table.summary == "1 of 2 expectations are not met.")
  }

  @Test("breaking a row that does not exist is no success")
  func unknown() {
    let table = table(breaking: "c", row("a", "200", "200"))
    #expect(!table.areMet)
    #expect(table.summary == "There is no expectation named c.")
  }

  @Test("rows stand in columns, and one that is not met shows both sides")
  func lines() {
    let table = table(row("a", "200", "200"), row("longer", "200", "left"))
    #expect(
      table.lines == [
        "✓ a       GET /friends  200",
        "✗ longer  GET /friends  expected 200, arrived left",
      ])
  }
}
