import ApusTestServer
import Foundation
import Testing

/// `apus batch`, run as a process.
@Suite("apus batch", .timeLimit(.minutes(5)))
struct BatchTests {
  @Test("Hundreds of requests run concurrently, and each has one result")
  func atOnce() async throws {
    let gate = Gate()
    try await TestServer.with { request in
      .text(request.target).waiting(for: gate)
    } body: { server in
      let count = 250
      let input = (1...count).map { #"{"n":\#($0),"url":"\#(server.origin)/\#($0)"}"# }.joined(separator: "\n")
      let run = try await ToolRun.of(["batch"], .init(input: Data(input.utf8))) { _ in
        try await server.wait { $0.inFlight == count }
        gate.open()
      }
      #expect(run.status == 0)
      #expect(run.error == "")
      #expect(run.lines.count == count)
      let lines = try run.results()
      #expect(lines.count == count)
      for n in 1...count {
        #expect(lines[n]?.status == 200)
        #expect(lines[n]?.body == "/\(n)")
      }
    }
  }

  @Test("With a low limit of open files, requests wait instead of failing")
  func fewFiles() async throws {
    let gate = Gate()
    try await TestServer.with { request in
      .text(request.target).waiting(for: gate)
    } body: { server in
      let input = (1...150).map { #"{"n":\#($0),"url":"\#(server.origin)/"}"# }.joined(separator: "\n")
      let setting = ToolRun.Setting(input: Data(input.utf8), preparation: "ulimit -n 100")
      let run = try await ToolRun.of(["batch"], setting) { _ in
        try await server.wait { $0.inFlight == 36 }
        gate.open()
      }
      #expect(run.status == 0)
      #expect(run.lines.count == 150)
      #expect(run.lines.allSatisfy { $0.contains(#""status":200"#) })
    }
  }

  @Test("With --in-order, requests are sent one after the other, and an invalid line does not stop them")
  func inOrder() async throws {
    try await TestServer.with { request in
      .text(request.target)
    } body: { server in
      var input = (1...40).map { #"{"n":\#($0),"url":"\#(server.origin)/\#($0)"}"# }
      input[7] = "nonsense"
      let run = try await ToolRun.of("batch", "--in-order", input: input.joined(separator: "\n"))
      #expect(run.status == 0 && run.lines.count == 40)
      #expect(server.peakInFlight == 1)
      let targets = (1...40).filter { $0 != 8 }.map { "/\($0)" }
      #expect(server.exchanges.map(\.target) == targets)
      let numbers = try run.lines.compactMap { try JSONDecoder().decode(ResultLine.self, from: Data($0.utf8)).n }
      #expect(numbers.map { "/\($0)" } == targets)
    }
  }

  @Test("Each line determines whether its redirects are followed")
  func redirects() async throws {
    try await TestServer.with { request in
      request.target == "/there" ? .text("there") : .text("moved", status: 307, fields: ["Location": "/there"])
    } body: { server in
      let input = ["follow", "manual"].enumerated().map { n, redirect in
        #"{"n":\#(n),"url":"\#(server.origin)/a","redirect":"\#(redirect)"}"#
      }
      let run = try await ToolRun.of(["batch"], .init(input: Data(input.joined(separator: "\n").utf8)))
      let lines = try run.results()
      #expect(lines[0]?.status == 200 && lines[0]?.body == "there")
      #expect(lines[1]?.status == 307 && lines[1]?.body == "moved")
    }
  }

  @Test("Requests above the connection limit wait")
  func waiting() async throws {
    try await TestServer.with { request in
      .text(request.target)
    } body: { server in
      let input = (1...400).map { #"{"n":\#($0),"url":"\#(server.origin)/\#($0)"}"# }.joined(separator: "\n")
      let run = try await ToolRun.of("batch", "--connections", "3", input: input)
      let lines = try run.results()
      #expect((1...400).allSatisfy { (n: Int) in lines[n]?.body == "/\(n)" })
      #expect(server.peakInFlight <= 3)
    }
  }

  @Test("An invalid line gets an error, and the valid lines are sent")
  func badLines() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let input = """
        nonsense
        {"n":2,"url":"\(server.origin)/"}

        {"n":3,"url":"ftp://x/"}
        {"n":4,"url":"\(server.origin)/","headers":[["Content-Length","5"]]}
        {"n":5,"method":"G T","url":"\(server.origin)/"}
        {"n":6}
        {"n":7,"url":"\(server.origin)/"}
        """
      let run = try await ToolRun.of("batch", input: input)
      #expect(run.status == 0)
      let lines = try run.results()
      #expect(lines.count == 7)
      #expect(lines[nil]?.code == "badLine" && lines[5]?.code == "badLine" && lines[6]?.code == "badLine")
      #expect(lines[3]?.code == "invalidRequest" && lines[4]?.code == "invalidRequest")
      #expect(lines[2]?.body == "hi" && lines[7]?.body == "hi")
      #expect(lines.values.filter { $0.code != nil }.allSatisfy { $0.requestState == "notSent" })
      #expect(server.exchanges.count == 2)
    }
  }

  @Test("Requests are sent as their lines specify")
  func message() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let input =
        #"{"n":1,"method":"PUT","url":"\#(server.origin)//a?b=?","headers":[["X-A","1"],["x-a","2"]],"body":"ü"}"#
      _ = try await ToolRun.of("batch", "--bearer", "t0ken", input: input)
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.method == "PUT" && exchange.target == "//a?b=?" && exchange.text == "ü")
      #expect(exchange.field("x-a") == "1, 2")
      #expect(exchange.field("Content-Type") == nil)
      #expect(exchange.field("Authorization") == "Bearer t0ken")
    }
  }

  @Test("Every status is a result, with repeated fields, interim responses and content that is not UTF-8")
  func results() async throws {
    try await TestServer.with { _ in
      Reply.status(
        503, fields: ["Set-Cookie": "a=1", "Set-Cookie": "b=2"], content: [0x66, 0xFC]
      ).interim(103, fields: ["Link": "</style.css>"])
    } body: { server in
      let run = try await ToolRun.of("batch", input: #"{"n":1,"url":"\#(server.origin)/"}"# + "\n")
      #expect(run.text.hasSuffix(#""interim":[[103,{"link":"</style.css>"}]]}"# + "\n"))
      let line = try #require(try run.results()[1])
      #expect(line.status == 503 && line.body == "f\u{FC}")
      #expect(line.headers?.filter { $0[0] == "set-cookie" } == [["set-cookie", "a=1"], ["set-cookie", "b=2"]])
    }
  }

  @Test("Each limit of a line has a specific error")
  func limits() async throws {
    try await TestServer.with { request in
      request.path == "/stalled" ? .stalled : .generated(1000)
    } body: { server in
      let input = """
        {"n":1,"url":"\(server.origin)/stalled","timeout_s":3}
        {"n":2,"url":"\(server.origin)/","max_body":999}
        {"n":3,"url":"\(server.origin)/","max_body":1000}
        {"n":4,"url":"http://127.0.0.1:1/"}
        """
      let lines = try await ToolRun.of("batch", input: input).results()
      #expect(lines[1]?.code == "timeout" && lines[1]?.requestState == "maybeSent")
      #expect(lines[2]?.code == "contentTooLarge" && lines[2]?.requestState == "responded")
      #expect(lines[3]?.status == 200)
      #expect(lines[4]?.code == "connectionFailed" && lines[4]?.requestState == "notSent")
    }
  }

  @Test("A result is written when it arrives, not when the input ends")
  func early() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let (input, output) = (try PipeEnds(), try PipeEnds())
      let setting = ToolRun.Setting(inputEnd: input.read, output: output.write)
      let run = try await ToolRun.of(["batch"], setting) { _ in
        input.send(#"{"n":1,"url":"\#(server.origin)/"}"# + "\n")
        #expect(await output.receive().hasPrefix(#"{"n":1,"status":200"#))
        input.closeWriteEnd()
      }
      #expect(run.status == 0)
    }
  }

  @Test("A closed output ends the batch, even if the input continues")
  func brokenPipe() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let (input, output) = (try PipeEnds(), try PipeEnds())
      output.closeReadEnd()
      let run = try await ToolRun.of(["batch"], .init(inputEnd: input.read, output: output.write)) { _ in
        input.send(#"{"n":1,"url":"\#(server.origin)/"}"# + "\n")
      }
      #expect(run.isOrderly)
      #expect(run.status == 23)
    }
  }
}
