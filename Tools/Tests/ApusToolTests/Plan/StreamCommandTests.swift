import Apus
import ArgumentParser
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("The command lines of events and pages")
struct StreamCommandTests {
  private func events(_ arguments: String...) throws -> EventsPlan { try EventsCommand.parse(arguments).plan() }

  private func pages(_ arguments: String...) throws -> PagesPlan { try PagesCommand.parse(arguments).plan() }

  @Test("An event stream reconnects by default, and accepts method, fields and content like send")
  func events() throws {
    let plan = try events("h.example/e", "a=1", "A:1")
    #expect(plan.reconnects && plan.lastEventID == nil)
    #expect(plan.request.method == .post && plan.request.content == .text(#"{"a":"1"}"#, .json))
    #expect(plan.request.fields == [RawField("A", "1")])
    #expect(try !events("h.example", "--no-reconnect").reconnects)
  }

  @Test("The last event ID comes from the option or the field")
  func lastEventID() throws {
    #expect(try events("h.example", "--last-event-id", "7").lastEventID == "7")
    let plan = try events("h.example", "last-event-id:7", "A:1")
    #expect(plan.lastEventID == "7")
    #expect(plan.request.fields == [RawField("A", "1")])
    #expect(throws: PlanError.self) { try events("h.example", "Last-Event-ID:7", "--last-event-id", "7") }
  }

  @Test("The next page comes from the field Link, a URL in the content, or a parameter")
  func next() throws {
    #expect(try pages("h.example").next == .link)
    #expect(try pages("h.example", "--next", "link").next == .link)
    #expect(try pages("h.example", "--next", "a.b").next == .url(at: "a.b"))
    #expect(try pages("h.example", "--cursor", "after=a.b").next == .cursor(parameter: "after", at: "a.b"))
    #expect(try pages("h.example", "--page", "p").next == .number(parameter: "p"))
    #expect(try pages("h.example?pp=1", "--offset", "p").next == .offset(parameter: "p"))
    let plan = try pages("h.example", "--items", "data", "--max", "3")
    #expect(plan.items == "data" && plan.limit == 3)
  }

  @Test(
    "Invalid command lines of pages are rejected",
    arguments: [
      ["h", "--next", "a", "--page", "b"], ["h", "--cursor", "a"], ["h", "--cursor", "=a"], ["h", "--cursor", "a="],
      ["h?p=1", "--page", "p"], ["h?a&p", "--offset", "p"], ["h", "--max", "0"], [],
    ])
  func refused(arguments: [String]) throws {
    let command = try PagesCommand.parse(arguments)
    #expect(throws: PlanError.self) { try command.plan() }
  }
}
