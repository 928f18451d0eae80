import Apus
import ArgumentParser
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("The command line of send")
struct SendCommandTests {
  private func plan(_ arguments: String...) throws -> SendPlan {
    try SendCommand.parse(arguments).plan()
  }

  @Test("The default method is GET, or POST with content")
  func method() throws {
    #expect(try plan("h.example").request.method == .get)
    #expect(try plan("h.example", "a=b").request.method == .post)
    #expect(try plan("put", "h.example", "a=b").request.method == .put)
    #expect(try plan("h.example", "--data", "").request.method == .post)
  }

  @Test("Members form one JSON object, in order")
  func members() throws {
    let plan = try plan("h.example", "b=1", "a:=2", "X-A:c")
    #expect(plan.request.content == .text(#"{"b":"1","a":2}"#, .json))
    #expect(plan.request.fields == [RawField("X-A", "c")])
  }

  @Test("Text, files and standard input are distinguished")
  func sources() throws {
    #expect(try plan("h.example", "--data", "x@y").request.content == .text("x@y", .text))
    #expect(try plan("h.example", "--data", "--x").request.content == .text("--x", .text))
    #expect(try plan("h.example", "-d", "@a b").request.content == .file("a b", .bytes))
    #expect(try plan("h.example", "--data", "-").request.content == .input(.bytes))
    #expect(try plan("h.example", "--json", "@-").request.content == .input(.json))
    #expect(try plan("h.example", "--json", "[1]").request.content == .text("[1]", .json))
    #expect(
      try plan("h.example", "--form", "a=b=c", "--form", "d=").request.content
        == .form([.init(name: "a", value: "b=c"), .init(name: "d", value: "")]))
  }

  @Test("Fields of options and items stay in order, repetitions included")
  func fields() throws {
    let plan = try plan("-H", "A: 1", "h.example", "--header", "a:2", "B:3")
    #expect(plan.request.fields == [RawField("A", "1"), RawField("a", "2"), RawField("B", "3")])
  }

  @Test(
    "Invalid command lines are rejected",
    arguments: [
      [], ["ftp://h/"], ["h.example", "a=b", "--data", "c"], ["h.example", "--form", "a=b", "--json", "1"],
      ["h.example", "--json", "{"], ["h.example", "--form", "a"], ["h.example", "-H", "a"], ["G T", "http://h/"],
      ["h.example", "-o", ""], ["h.example", "--multipart", "a=b", "--form", "a=b"], ["h.example", "--multipart", "a"],
      ["h.example", "--multipart", "a=b", "Content-Type:multipart/mixed"],
    ])
  func refused(arguments: [String]) throws {
    let command = try SendCommand.parse(arguments)
    #expect(throws: PlanError.self) { try command.plan() }
  }

  @Test("A hyphen as the output means standard output")
  func output() throws {
    #expect(try plan("h.example", "-o", "-").output == nil)
    #expect(try plan("h.example", "-o", "x").output == "x")
  }
}
