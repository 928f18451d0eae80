import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

private enum Setting: ContextKey { static var defaultValue: Int { 0 } }

private struct Thing: Endpoint {
  var request: Request<Int> { .get("/thing") }
}

@Suite("Modifiers") struct ModifierTests {
  @Test("Modifiers store id, tags, limits and settings in the call's options")
  func options() {
    let request = Thing().id("a", onDuplicate: .coalesce).tag("x", "y").tag("z").timeout(.seconds(2)).contentLimit(9)
      .setting(Setting.self, 4)
    #expect(request.options.id == "a")
    #expect(request.options.duplicatePolicy == .coalesce)
    #expect(request.options.tags == ["x", "y", "z"])
    #expect(request.options.timeout == .seconds(2))
    #expect(request.options.contentLimit == 9)
    #expect(request.options.values[Setting.self] == 4)
    #expect(Thing().request.options.values[Setting.self] == 0)
  }

  @Test("latestWins sets an id with the policy cancelPrevious")
  func latestWins() {
    let request = Thing().latestWins("search")
    #expect(request.options.id == "search")
    #expect(request.options.duplicatePolicy == .cancelPrevious)
  }

  @Test("A modifier changes a copy and leaves the endpoint unchanged")
  func copies() {
    let plain = Request<Int>.get("/a")
    var changed = plain.field("X", "1")
    changed.path = "/b"
    changed.method = .post
    changed.query = ["a": 1]
    changed.fields.append(RawField("Y", "2"))
    changed.content = .text("t")
    changed.acceptance = .any
    #expect(plain.path.encoded == "/a" && plain.method == .get && plain.query.isEmpty && plain.fields.isEmpty)
    #expect(!plain.acceptance.contains(404))
    #expect(changed.path.encoded == "/b" && changed.fields.count == 2)
    #expect(changed.acceptance.contains(404))
    #expect(changed.request.method == .post)
  }

  @Test("A field modifier replaces fields of the same name, ignoring case")
  func field() async throws {
    let request = Thing().field("x-one", "1").field("X-Two", "2").field("X-ONE", "3")
    #expect(request.fields == [RawField("X-Two", "2"), RawField("X-ONE", "3")])
  }

  @Test("Changing the response mapping leaves the rest of the request unchanged")
  func mapped() async throws {
    struct Refused: Decodable, Sendable {}
    let request = Thing().field("X", "1").tag("t").accepting(.any).rejecting(as: Refused.self).query(["q": 1])
      .content(.text("c")).mapped(by: ResponseMapping<String>.constant("done"))
    #expect(request.fields.count == 1)
    #expect(request.options.tags == ["t"])
    #expect(request.acceptance.contains(500))
    #expect(request.details.rejectionDecoder != nil)
    #expect(request.details.endpointType == Thing.self)
    #expect(try await client(answering: .status(500)).send(request) == "done")
    #expect(request.mapping.accept == nil)
    #expect(try await builtMessage(request).head.headerFields[.accept] == "*/*")
  }

  @Test("Coding modifiers can be combined")
  func coding() {
    let request = Thing().json(.snakeCase).coding { $0.query = QueryStyle(arrays: .brackets) }.coding {
      $0.form = .default
    }
    #expect(request.options.coding?.json?.keys == .snakeCase)
    #expect(request.options.coding?.query?.arrays == .brackets)
    #expect(request.options.coding?.form != nil)
    #expect(request.options.coding?.envelope == nil)
  }
}
