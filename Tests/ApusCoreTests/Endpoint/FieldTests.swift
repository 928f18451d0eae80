import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

@Suite("Fields") struct FieldTests {
  private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

  @Test("Accept is always sent, with the value's media type or `*/*`")
  func accept() async throws {
    #expect(try await builtMessage(Request<Int>.get("/x")).head.headerFields[.accept] == "application/json")
    #expect(try await builtMessage(Request<Void>.get("/x")).head.headerFields[.accept] == "*/*")
    #expect(try await builtMessage(Request<String>.get("/x")).head.headerFields[.accept] == "*/*")
    let mapping = ResponseMapping<Int>(accept: "text/csv") { _ in 1 }
    #expect(try await builtMessage(Request<Int>.get("/x").mapped(by: mapping)).head.headerFields[.accept] == "text/csv")
    #expect(
      try await builtMessage(Request<Int>.get("/x").field("aCCept", "text/x")).head.headerFields[.accept] == "text/x")
  }

  @Test("An endpoint's fields are sent once each, independent of their case")
  func reach() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .status(200))
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    try await api.send(
      Request<Void>.post("/x", content: .text("t")).field("x-one", "1").field("CONTENT-type", "text/x"))
    let fields = try #require(stub.exchanges.first?.fields)
    #expect(fields[try name("X-One")] == "1")
    #expect(fields[values: .contentType] == ["text/x"])
    #expect(fields.count == 3)
  }

  @Test("If several raw fields have the same name, the last field is sent")
  func last() async throws {
    var request = Request<Void>.get("/x")
    request.fields = [RawField("X-A", "1"), RawField("x-a", "2")]
    #expect(try await builtMessage(request).head.headerFields[values: try name("x-a")] == ["2"])
  }

  @Test("Control characters in a field value are refused, except tabs")
  func controls() async throws {
    for code in [UInt8](0...0x1F) + [0x7F] {
      let value = "a\(Unicode.Scalar(code))b"
      let error = await failure {
        try await builtMessage(Request<Void>.get("/x").field("X-A", value))
      }
      #expect((error?.code == .invalidRequest) == (code != 9), "\(code)")
    }
  }

  @Test("A line break in a field value is refused", arguments: ["a\r\nX: y", "a\nb", "a\rb", "\r\n", "a\0"])
  func injection(value: String) async {
    let error = await failure {
      try await builtMessage(Request<Void>.get("/x").field("X-A", value))
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.detail == "the value of the field X-A contains a character that is not allowed")
  }

  @Test(
    "A field name that is not a token is refused",
    arguments: [
      "", " ", "X A", "X:A", ":path", ":authority", "X\r\n", "X\0", "Ünicode", "X(", "a/b", "a,b", "a;b", "\"a\"",
      "a\u{7F}",
    ])
  func badName(name: String) async {
    let error = await failure {
      try await builtMessage(Request<Void>.get("/x").field(name, "1"))
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.detail == "a field's name is not a token")
  }

  @Test(
    "Fields that frame the message are refused, since the transport sets them",
    arguments: [
      "Content-Length", "content-LENGTH", "Transfer-Encoding", "Host", "Connection", "Keep-Alive", "Upgrade", "TE",
      "Trailer", "Proxy-Connection",
    ])
  func framing(name: String) async throws {
    let error = await failure {
      try await builtMessage(Request<Void>.get("/x").field(name, "1"))
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.detail == "the field \(name) is set by the transport")
    var message = try await builtMessage(Request<Void>.get("/x"))
    #expect(throws: CallFault.self) { try message.addField(RawField(name, "1")) }
  }

  @Test("A field value of a megabyte and an empty field value are sent completely")
  func large() async throws {
    let value = String(repeating: "x", count: 1 << 20)
    let fields = try await builtMessage(Request<Void>.get("/x").field("X-Big", value).field("X-Empty", "")).head
      .headerFields
    #expect(fields[try name("x-big")]?.utf8.count == 1 << 20)
    #expect(fields[try name("x-empty")] == "")
  }

  @Test("A sensitive field is marked in the message and masked in text")
  func sensitive() async throws {
    let request = Request<Void>.get("/x").field("Accept", "s3nt1nel", isSensitive: true).field("X-Open", "o")
    let fields = try await builtMessage(request).head.headerFields
    #expect(fields.first { $0.value == "s3nt1nel" }?.indexingStrategy == .disallow)
    #expect(fields.first { $0.value == "o" }?.indexingStrategy == .automatic)
    #expect("\(RawField("Accept", "s3nt1nel", isSensitive: true))" == "Accept: ██")
    var environment = Environment(baseURL: "https://a.example")
    environment.setField("X-Who", "me", isSensitive: true)
    #expect(environment.fields == [RawField("X-Who", "me", isSensitive: true)])
  }

  @Test("Existing fields and parameters take precedence over added fields and parameters")
  func adding() throws {
    var message = RequestMessage(
      head: HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/p?a=1"))
    message.head.headerFields[.accept] = "text/x"
    try message.addField(RawField("ACCEPT", "other"))
    try message.addField(RawField("X-Key", "k", isSensitive: true))
    #expect(message.head.headerFields[.accept] == "text/x")
    #expect(message.head.headerFields.first { $0.value == "k" }?.indexingStrategy == .disallow)
    #expect(throws: CallFault.self) { try message.addField(RawField("X", "a\nb")) }
    try message.addQuery(["a": 2, "b c": "d e"])
    #expect(message.target == "/p?a=1&b%20c=d%20e")
    try message.addQuery(["b c": 1, "a": 1])
    #expect(message.target == "/p?a=1&b%20c=d%20e")
    message.target = "/p"
    try message.addQuery([:])
    #expect(message.target == "/p")
    try message.addQuery(["tag": ["x", "y"]], style: QueryStyle(arrays: .brackets))
    #expect(message.target == "/p?tag%5B%5D=x&tag%5B%5D=y")
    message.target = "/p?k+l=1"
    try message.addQuery(["k l": 2])
    #expect(message.target == "/p?k+l=1")
  }

  @Test("A parameter that cannot be encoded is an encoding error, also if a middleware adds it")
  func addingUnwritable() async throws {
    struct Adds: Middleware {
      func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
        var request = request
        try request.addQuery(["rate": Double.nan])
        return try await next(request, context: context)
      }
    }
    var pipeline = Pipeline()
    pipeline.insert(Adds(), .before(.transport))
    let error = await failure {
      try await client(pipeline: pipeline).send(Request<Void>.get("/x"))
    }
    #expect(error?.code == .encoding)
    #expect(error?.codingPath == "rate")
  }
}
