#if os(Linux) || os(macOS)
import Foundation
import Testing

/// The folder of the build's modules, relative to the test's executable.
private let modules: String? = {
  let program = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
  var folder = program.deletingLastPathComponent()
  for _ in 0..<5 {
    let modules = folder.appendingPathComponent("Modules").path
    if FileManager.default.fileExists(atPath: modules + "/Apus.swiftmodule") { return modules }
    folder.deleteLastPathComponent()
  }
  return nil
}()

/// Compiler arguments for the C modules that the build's modules import, as the package manager passes them.
private let moduleMaps: [String] = {
  guard let modules else { return [] }
  let build = URL(fileURLWithPath: modules).deletingLastPathComponent()
  let checkouts = build.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("checkouts")
  let targets = folders(in: build) + folders(in: package.appendingPathComponent("Sources"))
  let fetched = folders(in: checkouts).flatMap { folders(in: $0.appendingPathComponent("Sources")) }
  let maps = (targets + fetched.map { $0.appendingPathComponent("include") }).map { "\($0.path)/module.modulemap" }
  return maps.filter { FileManager.default.fileExists(atPath: $0) }.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
}()

private let noCompiler: Comment = "swiftc is not on PATH"
private let noModules: Comment = "the modules of the build are not in a folder above the tests' program"

private func folders(in folder: URL) -> [URL] {
  (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
}

/// Tests that compile programs with the modules of this build.
@Suite(
  "2: incomplete endpoints", .needs(Tool.compiler != nil, noCompiler), .needs(modules != nil, noModules), .serialized)
struct Capability02IncompleteEndpointsTests {
  private static let endpoints = """
    import Apus
    import Foundation
    struct User: Codable, Sendable { var id: Int }
    struct GetUser: Endpoint {
      let id: Int
      var request: Request<User> { .get("/users/\\(id)") }
    }
    extension Endpoint where Self == Request<User> {
      static func user(_ id: Int) -> Self { .get("/users/\\(id)") }
    }
    enum UserAPI: Endpoint {
      case user(Int)
      var request: Request<Content> { switch self { case .user(let id): .get("/users/\\(id)") } }
    }
    extension Request where Value == User {
      static func me(_ id: Int) -> Self { .get("/me/\\(id)") }
    }
    extension Endpoint where Self == Request<Void> {
      static func remove(_ id: Int) -> Self { .delete("/users/\\(id)") }
    }
    protocol UserService { func user(_ id: Int) async throws(CallError) -> User }
    func use(_ api: Client, _ service: any UserService) async throws {

    """

  private func compile(_ line: String) async throws -> (status: Int32, output: String) {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString).swift")
    try Data((Self.endpoints + line + "\n}\n").utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let compiler = try #require(Tool.compiler, noCompiler)
    let arguments = ["-typecheck", "-swift-version", "6", "-I", try #require(modules, noModules)] + moduleMaps
    return try await compiler.run(arguments + [file.path])
  }

  @Test("Complete endpoints compile in every style, each with its type")
  func complete() async throws {
    let result = try await compile(
      """
      let inline: User = try await api.send(Request.get("/users/\\(1)"))
      let dot = try await api.send(.user(1))
      let structure = try await api.send(GetUser(id: 1))
      let enumeration = try await api.send(UserAPI.user(1), as: User.self)
      let served = try await service.user(1)
      let modified = try await api.send(GetUser(id: 1).priority(.high).retry(.none).timeout(.seconds(5)))
      _ = [inline, dot, structure, enumeration, served, modified]
      """)
    #expect(result.status == 0, "\(result.output)")
  }

  @Test("Functions that take an endpoint find its static functions, and find modifiers after them")
  func staticFunctions() async throws {
    let result = try await compile(
      """
      let sent = try await api.send(.user(1))
      let modified = try await api.send(.user(1).tag("a").timeout(.seconds(5)))
      let answered = try await api.response(to: .user(1)).value
      let expected = try await api.outcome(of: .user(1), rejectedAs: User.self)
      let streamed: Int = try await api.withResponse(to: .user(1)) { response in response.head.status.code }
      for try await page in api.pages(of: { .user($0) }, next: .number { $0.id < 3 }) { _ = page.id }
      for try await page in api.pages(of: .user(1), next: .link) { _ = page.id }
      _ = try await api.message(for: .user(1))
      let inline: Response<User> = try await api.response(to: .get("/users/1").tag("a"))
      let pages = api.pages(of: { Request<User>.get("/users/\\($0)") }, next: .number { $0.id < 3 })
      for try await page in pages { _ = page.id }
      try await api.send(.remove(1))
      _ = ([sent, modified, answered, inline.value], expected, streamed)
      """)
    #expect(result.status == 0, "\(result.output)")
  }

  @Test("`send` and `response` also find static functions of Request")
  func requestMembers() async throws {
    let result = try await compile(
      """
      let sent = try await api.send(.me(1))
      let modified = try await api.send(.me(1).tag("a").timeout(.seconds(5)))
      let answered = try await api.response(to: .me(1)).value
      _ = [sent, modified, answered]
      """)
    #expect(result.status == 0, "\(result.output)")
  }

  @Test(
    "GET and QUERY without a value type do not compile, and the error suggests a fix",
    arguments: [
      (#"let u = try await api.send(.get("/users/1"))"#, "get(_:query:)"),
      (#"try await api.send(.get("/users/1"))"#, "get(_:query:)"),
      (#"let u = try await api.send(.get("/users/1").tag("a"))"#, "get(_:query:)"),
      (#"let u = try await api.response(to: .get("/users/1")).value"#, "get(_:query:)"),
      (#"let u = try await api.send(.query("/users", content: .empty))"#, "query(_:query:content:)"),
    ])
  func untyped(line: String, member: String) async throws {
    let result = try await compile(line)
    #expect(result.status != 0)
    #expect(
      result.output.contains("error: '\(member)' is unavailable: name the type of the value"), "\(result.output)")
    #expect(result.output.contains("to ignore the content, write"), "\(result.output)")
  }

  @Test(
    "Spellings of other libraries do not compile, and the error suggests a fix",
    arguments: [
      (#"let u: User = try await api.send(.post("/users", body: User(id: 1)))"#, "pass the content as `content:`"),
      (#"try await api.send(.post("/users", body: User(id: 1)))"#, "pass the content as `content:`"),
      (#"let u: User = try await api.send(.put("/users", json: User(id: 1)))"#, "pass the content as `content:`"),
      (#"try await api.send(.patch("/users", json: User(id: 1)).tag("a"))"#, "pass the content as `content:`"),
      (#"let u: User = try await api.send(.get(RequestPath(text)))"#, "write the path as a literal"),
      (#"let u: User = try await api.send(.get(RequestPath(url)))"#, "write `.url(url)` for a complete URL"),
      (#"_ = try BaseURL(url)"#, "write `try BaseURL(url.absoluteString)`"),
      (#"_ = Client(baseURL: BaseURL(url))"#, "write `try BaseURL(url.absoluteString)`"),
    ])
  func otherSpellings(line: String, message: String) async throws {
    let declarations = "let text = String(1), url = Foundation.URL(fileURLWithPath: text)\n"
    let result = try await compile(declarations + line)
    #expect(result.status != 0)
    #expect(result.output.contains("is unavailable: \(message)"), "\(result.output)")
  }

  @Test(
    "Passing a String or URL as path or base URL does not compile, and the error names the right type",
    arguments: [
      ("let u: User = try await api.send(.get(text))", "String", "RequestPath"),
      ("let u: User = try await api.send(.get(url))", "URL", "RequestPath"),
      ("_ = Client(baseURL: text) { $0.timeout = nil }", "String", "BaseURL"),
      ("_ = Client(baseURL: url)", "URL", "BaseURL"),
    ])
  func unconverted(line: String, given: String, expected: String) async throws {
    let declarations = "let text = String(1), url = Foundation.URL(fileURLWithPath: text)\n"
    let result = try await compile(declarations + line)
    #expect(result.status != 0)
    #expect(
      result.output.contains("cannot convert value of type '\(given)' to expected argument type '\(expected)'"),
      "\(result.output)")
  }

  @Test("GET and QUERY compile with a value type, or if the content is ignored explicitly")
  func typed() async throws {
    let result = try await compile(
      """
      let user: User = try await api.send(.get("/users/1"))
      let same = try await api.send(Request<User>.get("/users/1"))
      let named = try await api.send(.get("/users/1"), as: User.self)
      let content: Content = try await api.send(.get("/users/1"))
      let found: [User] = try await api.send(.query("/users", content: .empty))
      try await api.send(.method(.get, "/ping"))
      try await api.send(.head("/ping"))
      try await api.send(.post("/ping"))
      _ = ([user, same, named] + found, content)
      """)
    #expect(result.status == 0, "\(result.output)")
  }

  @Test("A static member of Request with a different result type does not compile")
  func wrongMember() async throws {
    let result = try await compile("let number: Int = try await api.send(.me(1))")
    #expect(result.status != 0)
    #expect(
      result.output.contains("error: cannot convert value of type 'User' to specified type 'Int'"), "\(result.output)"
    )
  }

  @Test(
    "An endpoint without a required value does not compile in any style",
    arguments: [
      ("_ = try await api.send(GetUser())", "missing argument for parameter 'id' in call"),
      ("_ = try await api.send(.user())", "missing argument for parameter #1 in call"),
      (
        "_ = try await api.send(UserAPI.user, as: User.self)",
        "type '@Sendable (Int) -> UserAPI' cannot conform to 'Endpoint'"
      ),
      ("_ = try await service.user()", "missing argument for parameter #1 in call"),
      ("let user: User = try await api.send(Request.get())", "missing argument for parameter #1 in call"),
    ])
  func missing(line: String, message: String) async throws {
    let result = try await compile(line)
    #expect(result.status != 0)
    #expect(result.output.contains("error: \(message)"), "\(result.output)")
  }

  @Test(
    "An endpoint with a value or result of the wrong type does not compile in any style",
    arguments: [
      (#"_ = try await api.send(GetUser(id: "7"))"#, wrongArgument),
      (#"_ = try await api.send(.user("7"))"#, wrongArgument),
      (#"_ = try await api.send(UserAPI.user("7"), as: User.self)"#, wrongArgument),
      (#"_ = try await service.user("7")"#, wrongArgument),
      ("let user: String = try await api.send(GetUser(id: 7))", wrongResult("String")),
      (
        "let user: [User] = try await api.send(.user(7))",
        "instance method 'send(_:as:)' requires the types 'User' and 'Content' be equivalent"
      ),
      ("let user: Int = try await service.user(7)", wrongResult("Int")),
      (
        "let user: (any Sendable.Type) = try await api.send(Request<User>.get(\"/\"))",
        wrongResult("any Sendable.Type")
      ),
    ])
  func wrong(line: String, message: String) async throws {
    let result = try await compile(line)
    #expect(result.status != 0)
    #expect(result.output.contains("error: \(message)"), "\(result.output)")
  }

  private static let wrongArgument = "cannot convert value of type 'String' to expected argument type 'Int'"

  private static func wrongResult(_ type: String) -> String {
    "cannot convert value of type 'User' to specified type '\(type)'"
  }

  @Test(
    "A modifier's value of the wrong type does not compile",
    arguments: [
      (
        #"_ = try await api.send(GetUser(id: 7).priority("high"))"#,
        "'String' to expected argument type 'CallPriority'"
      ),
      ("_ = try await api.send(GetUser(id: 7).retry(3))", "'Int' to expected argument type 'RetryPolicy'"),
      ("_ = try await api.send(GetUser(id: 7).timeout(5))", "'Int' to expected argument type 'Duration'"),
    ])
  func wrongModifier(line: String, types: String) async throws {
    let result = try await compile(line)
    #expect(result.status != 0)
    #expect(result.output.contains("error: cannot convert value of type \(types)"), "\(result.output)")
  }

  @Test("In the enum style, a call without a result type does not compile")
  func enumWithoutType() async throws {
    let result = try await compile("let user = try await api.send(UserAPI.user(1)); _ = user.id")
    #expect(result.status != 0)
    #expect(result.output.contains("error: value of type 'Content' has no member 'id'"), "\(result.output)")
    // Without an expected type, the call returns the content.
    let content = try await compile("let content: Content = try await api.send(UserAPI.user(1)); _ = content")
    #expect(content.status == 0, "\(content.output)")
  }
}
#endif
