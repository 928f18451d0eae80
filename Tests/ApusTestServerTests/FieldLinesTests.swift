import ApusTestServer
import Testing

@Suite struct FieldLinesTests {
  private let lines: FieldLines = ["Accept": "a", "X-One": "1", "accept": "b"]

  @Test("FieldLines joins the lines of a name, compared case-insensitively")
  func lookup() {
    #expect(lines["ACCEPT"] == "a, b")
    #expect(lines.values(of: "accept") == ["a", "b"])
    #expect(lines["none"] == nil)
    #expect(lines.lines.map(\.name) == ["Accept", "X-One", "accept"])
  }

  @Test("Setting a value in FieldLines replaces all lines of a name at the position of the first")
  func replacing() {
    var lines = lines
    lines["accept"] = "c"
    #expect(lines.lines.map(\.description) == ["accept: c", "X-One: 1"])
    lines["Accept"] = nil
    lines["New"] = "n"
    lines.append(FieldLine(name: "X-One", value: "2"))
    #expect(lines == ["X-One": "1", "New": "n", "X-One": "2"])
  }
}
