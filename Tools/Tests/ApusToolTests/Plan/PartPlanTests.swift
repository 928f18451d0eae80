import Apus
import Testing

@testable import ApusTool

@Suite("Parts of multipart content")
struct PartPlanTests {
  @Test(
    "A part is a text, or a file with a media type and a file name",
    arguments: [
      ("a=b", .text("b"), nil, nil), ("a=", .text(""), nil, nil), ("a=b=c;type=x", .text("b=c;type=x"), nil, nil),
      ("a=@f", .file("f"), nil, nil), ("a=@-", .input, nil, nil), ("a=@./-", .file("./-"), nil, nil),
      ("a=@f;type=text/csv", .file("f"), "text/csv", nil), ("a=@f; filename=g h", .file("f"), nil, "g h"),
      ("a=@f;type=\"text/plain; charset=utf-8\";filename=\"g;h\"", .file("f"), "text/plain; charset=utf-8", "g;h"),
      (#"a=@"f;\"g\"\\h\i";type=a/b"#, .file(#"f;"g"\h\i"#), "a/b", nil),
    ] as [(String, PartPlan.Source, String?, String?)])
  func parts(text: String, source: PartPlan.Source, mediaType: String?, fileName: String?) throws {
    let part = try PartPlan(text)
    #expect(part.name == "a")
    #expect(part.source == source)
    #expect(part.mediaType == mediaType && part.fileName == fileName)
  }

  @Test(
    "Invalid parts are rejected",
    arguments: [
      [""], ["a"], ["=a"], ["a=@"], ["a=@f;size=1"], ["a=@f;type"], ["a=@\"f"], ["a=@\"f\"g"], ["a=@-", "b=@-"],
      ["a=@f;type=\"x"],
    ])
  func refused(values: [String]) {
    #expect(throws: PlanError.self) { try PartPlan.all(values) }
  }

  @Test("A part is converted back to curl's notation, with masked values unless requested")
  func curl() throws {
    let part = try PartPlan(#"a=@"f;\"g\"\\h";type=a/b;filename="g,h""#)
    #expect(part.curlWords(isShown: true) == ["--form", #"a=@"f;\"g\"\\h";type=a/b;filename="g,h""#])
    #expect(part.curlWords(isShown: false) == ["--form", "a=@\(Redaction.mask);type=a/b;filename=\"g,h\""])
    #expect(try PartPlan("a=@b").curlWords(isShown: false) == ["--form", "a=@\(Redaction.mask)"])
    #expect(try PartPlan("a=b").curlWords(isShown: true) == ["--form-string", "a=b"])
  }
}
