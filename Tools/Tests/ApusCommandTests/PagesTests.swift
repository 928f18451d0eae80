import ApusTestServer
import Foundation
import Testing

/// `apus pages`, run as a process.
@Suite("apus pages", .timeLimit(.minutes(3)))
struct PagesTests {
  @Test("The field Link leads to the next page, and elements are printed as the server wrote them")
  func link() async throws {
    try await TestServer.with { request in
      switch request.target {
      case "/list?size=2":
        .json(
          #"[{"b": 1.10, "a": 12345678901234567890}, "x\u0041 \" y"]"#,
          fields: ["Link": #"</list?size=2&page=2>; rel="next", </list>; rel="first""#])
      default: .json("[\n  [1e2, {}],\n  null\n]")
      }
    } body: { server in
      let run = try await ToolRun.of("pages", server.origin + "/list?size=2", "X-A:1", "X-A:2", "--bearer", "t")
      #expect(run.status == 0, "\(run.error)")
      #expect(run.text == #"{"b":1.10,"a":12345678901234567890}"# + "\n" + #""x\u0041 \" y""# + "\n[1e2,{}]\nnull\n")
      #expect(run.error == "")
      #expect(server.exchanges.map(\.target) == ["/list?size=2", "/list?size=2&page=2"])
      for exchange in server.exchanges {
        #expect(exchange.field("X-A") == "1, 2")
        #expect(exchange.field("Authorization") == "Bearer t" && exchange.field("Accept") == "application/json")
      }
    }
  }

  @Test("Key paths lead to the elements and to the next page")
  func paths() async throws {
    try await TestServer.with { request in
      request.target == "/a"
        ? .json(#"{"data":{"items":[1,2]},"links":[{"next":"b?x"}]}"#) : .json(#"{"data":{"items":null},"links":[]}"#)
    } body: { server in
      let run = try await ToolRun.of(
        "pages", server.origin + "/a", "--items", "data.items", "--next", "links.0.next")
      #expect(run.status == 0, "\(run.error)")
      #expect(run.text == "1\n2\n")
      #expect(server.exchanges.map(\.target) == ["/a", "/b?x"])
    }
  }

  @Test(
    "Query parameters lead to the next page",
    arguments: [
      (["--cursor", "after=next"], ["/l?q=1", "/l?q=1&after=7", "/l?q=1&after=8"]),
      (["--page", "p"], ["/l?q=1&p=1", "/l?q=1&p=2", "/l?q=1&p=3"]),
      (["--offset", "skip"], ["/l?q=1&skip=0", "/l?q=1&skip=2", "/l?q=1&skip=4"]),
    ])
  func parameters(options: [String], targets: [String]) async throws {
    let pages = [#"{"items":[1,2],"next":7}"#, #"{"items":[3,4],"next":"8"}"#, #"{"items":[],"next":""}"#]
    try await TestServer.with { request in
      .json(pages[min(request.number, 2)])
    } body: { server in
      let run = try await ToolRun.of(["pages", server.origin + "/l?q=1", "--items", "items"] + options)
      #expect(run.status == 0, "\(run.error)")
      #expect(run.text == "1\n2\n3\n4\n")
      #expect(server.exchanges.map(\.target) == targets)
    }
  }

  @Test("No page is requested after --max elements")
  func max() async throws {
    try await TestServer.with { request in
      .json("[\(request.number * 2), \(request.number * 2 + 1)]", fields: ["Link": "</\(request.number)>; rel=next"])
    } body: { server in
      for (max, count) in [("1", 1), ("2", 1), ("3", 2)] {
        let before = server.exchanges.count
        let run = try await ToolRun.of("pages", server.origin, "--max", max)
        #expect(run.status == 0)
        #expect(run.lines.count == Int(max))
        #expect(server.exchanges.count - before == count)
      }
    }
  }

  @Test("Fields and credentials are sent only to the URL's origin")
  func origins() async throws {
    try await TestServer.with { _ in
      .json("[2]")
    } body: { other in
      try await TestServer.with { _ in
        .json("[1]", fields: ["Link": "<\(other.origin)/next>; rel=next"])
      } body: { server in
        let run = try await ToolRun.of(
          "pages", server.origin, "--bearer", "t", "X-Key:secret", "Accept:application/vnd.x+json")
        #expect(run.text == "1\n2\n", "\(run.error)")
        let exchange = try #require(other.exchanges.first)
        #expect(exchange.target == "/next" && exchange.field("X-Key") == nil)
        #expect(exchange.field("Authorization") == nil)
        #expect(exchange.field("Accept") == "application/vnd.x+json")
      }
    }
  }

  @Test(
    "A page without elements and an infinite list are malformed; earlier elements are printed",
    arguments: [
      (#"{"a":1}"#, [], "the content is not an array; name its array with --items"),
      (#"{"a":1}"#, ["--items", "b.c"], "the content has no value at b.c"),
      (#"{"a":1}"#, ["--items", "a"], "the value at a is not an array"),
      (#"{"a":[],"n":{}}"#, ["--items", "a", "--next", "n"], "the value at n is neither a text nor a number"),
      ("[1", [], "the content is not valid JSON"),
      (#"{"a":[],"n":"/"}"#, ["--items", "a", "--next", "n"], "the list leads back to a page"),
    ] as [(String, [String], String)])
  func malformed(content: String, options: [String], reason: String) async throws {
    try await TestServer.with { _ in
      .json(content)
    } body: { server in
      let run = try await ToolRun.of(["pages", server.origin] + options)
      #expect(run.status == 8)
      #expect(run.error.contains(reason), "\(run.error)")
    }
  }

  @Test("A rejected page ends the command after the elements of earlier pages")
  func rejected() async throws {
    try await TestServer.with { request in
      request.number == 0 ? .json("[1]", fields: ["Link": "</2>; rel=next"]) : .text("no", status: 403)
    } body: { server in
      let run = try await ToolRun.of("pages", server.origin)
      #expect(run.status == 22)
      #expect(run.text == "1\n")
      #expect(run.error.hasPrefix("apus: The server rejected the request: 403."))
    }
  }

  @Test("Elements are formatted on a terminal, which they cannot control")
  func terminal() async throws {
    try await TestServer.with { _ in
      .json("[{\"a\":\"\u{9B}31m\"},2]")
    } body: { server in
      let terminal = try PseudoTerminal()
      _ = try await ToolRun.of(
        ["pages", server.origin], .init(environment: ["NO_COLOR": "1"], output: terminal.program))
      #expect(terminal.shown().replacing("\r\n", with: "\n") == "{\n  \"a\": \"\\u009b31m\"\n}\n2\n")
    }
  }
}
