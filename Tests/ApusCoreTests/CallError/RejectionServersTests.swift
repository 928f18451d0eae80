import Foundation
import Testing

@testable import ApusCore

private typealias Field = Rejection.FieldError

/// The parts read from a rejection.
private struct Reading {
  let message: String?
  let code: String?
  let fields: [Field]

  init(_ message: String?, _ code: String? = nil, _ fields: [Field] = []) {
    (self.message, self.code, self.fields) = (message, code, fields)
  }
}

/// A server's rejection, and the parts that are expected to be read from the rejection.
private struct Server: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let body: String
  let status: Int
  let message: String?
  let code: String?
  let fields: [Field]

  init(_ name: String, _ status: Int, _ body: String, _ read: Reading) {
    (testDescription, self.body, self.status) = (name, body, status)
    (message, code, fields) = (read.message, read.code, read.fields)
  }

  static let all: [Server] = validation + others

  static let validation: [Server] = [
    Server(
      "FastAPI", 422,
      #"{"detail":[{"type":"missing","loc":["body","items",0,"name"],"msg":"Field required","input":{}}]}"#,
      Reading(
        "items[0].name: Field required", nil, [Field(path: "items[0].name", message: "Field required", code: "missing")]
      )),
    Server("FastAPI, a sentence", 409, #"{"detail":"This seat is taken"}"#, Reading("This seat is taken")),
    Server(
      "FastAPI, an object", 409, #"{"detail":{"code":"seat_taken","message":"Seat is taken"}}"#,
      Reading(
        "Seat is taken",
        "seat_taken")),
    Server(
      "Django REST framework", 400,
      #"{"name":["This field is required."],"age":["A valid integer is required.","Too big."]}"#,
      Reading(
        "age: A valid integer is required.", nil,
        [
          Field(path: "age", message: "A valid integer is required."), Field(path: "age", message: "Too big."),
          Field(path: "name", message: "This field is required."),
        ])),
    Server(
      "Django REST framework, of the whole", 400,
      #"{"non_field_errors":["The passwords do not match."],"title":["Too short."]}"#,
      Reading("The passwords do not match.", nil, [Field(path: "title", message: "Too short.")])),
    Server(
      "Django REST framework, nested", 400, #"{"profile":{"age":["Too young."]}}"#,
      Reading(
        "profile.age: Too young.", nil,
        [Field(path: "profile.age", message: "Too young.")])),
    Server(
      "Django REST framework, a field of a common name", 400, #"{"title":["Too short."]}"#,
      Reading("title: Too short.", nil, [Field(path: "title", message: "Too short.")])),
    Server("Django REST framework, a sentence", 403, #"{"detail":"CSRF failed."}"#, Reading("CSRF failed.")),
    Server(
      "Rails", 422, #"{"errors":{"name":["can't be blank","is too short"],"base":["The cart is empty"]}}"#,
      Reading(
        "The cart is empty",
        nil, [Field(path: "name", message: "can't be blank"), Field(path: "name", message: "is too short")])),
    Server("Rails, sentences", 422, #"{"errors":["Name can't be blank"]}"#, Reading("Name can't be blank")),
    Server(
      "Laravel", 422,
      #"{"message":"The name field is required. (and 1 more error)","errors":{"items.0.name":["The name is required."]}}"#,
      Reading(
        "The name field is required. (and 1 more error)", nil,
        [Field(path: "items[0].name", message: "The name is required.")])),
    Server("Laravel, not signed in", 401, #"{"message":"Unauthenticated."}"#, Reading("Unauthenticated.")),
    Server(
      "PocketBase", 400,
      #"{"code":400,"message":"Failed to create record.","data":{"title":{"code":"validation_required","message":"Missing."}}}"#,
      Reading(
        "Failed to create record.", "400", [Field(path: "title", message: "Missing.", code: "validation_required")])),
    Server("PocketBase, without fields", 404, #"{"status":404,"message":"Not here.","data":{}}"#, Reading("Not here.")),
    Server(
      "ASP.NET", 400,
      #"{"title":"One or more errors.","status":400,"errors":{"Name":["The Name field is required."]},"traceId":"0"}"#,
      Reading("One or more errors.", nil, [Field(path: "Name", message: "The Name field is required.")])),
    Server("ASP.NET, old", 400, #"{"Message":"The request is invalid."}"#, Reading("The request is invalid.")),
    Server(
      "Spring", 400,
      #"{"status":400,"error":"Bad Request","message":"Validation failed","errors":[{"field":"age","defaultMessage":"must be 18","code":"Min"}]}"#,
      Reading("Validation failed", "Min", [Field(path: "age", message: "must be 18", code: "Min")])),
    Server(
      "NestJS", 400, #"{"statusCode":400,"message":["name must be a string","age must be 18"],"error":"Bad Request"}"#,
      Reading("name must be a string")),
    Server(
      "express-validator", 400,
      #"{"errors":[{"type":"field","msg":"Invalid value","path":"email","location":"body"}]}"#,
      Reading("email: Invalid value", nil, [Field(path: "email", message: "Invalid value")])),
    Server(
      "Zod", 400,
      #"{"success":false,"error":{"issues":[{"code":"too_small","path":["tags",1],"message":"Too short"}],"name":"ZodError"}}"#,
      Reading("tags[1]: Too short", nil, [Field(path: "tags[1]", message: "Too short", code: "too_small")])),
    Server(
      "JSON:API", 422,
      #"{"errors":[{"status":"422","source":{"pointer":"/data/attributes/title"},"title":"Invalid","detail":"Is too short"}]}"#,
      Reading("title: Is too short", nil, [Field(path: "title", message: "Is too short")])),
    Server(
      "RFC 9457", 422,
      ##"{"type":"https://x.example/v","title":"Not valid","errors":[{"detail":"must be positive","pointer":"#/age"}]}"##,
      Reading("Not valid", nil, [Field(path: "age", message: "must be positive")])),
    Server(
      "RFC 7807", 400, #"{"title":"Not valid","invalid-params":[{"name":"age","reason":"must be positive"}]}"#,
      Reading(
        "Not valid", nil,
        [Field(path: "age", message: "must be positive")])),
    Server(
      "GitHub", 422,
      #"{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}]}"#,
      Reading("Validation Failed", "missing_field", [Field(path: "title", code: "missing_field")])),
    Server(
      "Stripe", 402,
      #"{"error":{"code":"card_declined","type":"card_error","param":"card","message":"Your card was declined."}}"#,
      Reading(
        "Your card was declined.", "card_declined",
        [Field(path: "card", message: "Your card was declined.", code: "card_declined")])),
    Server(
      "Mastodon", 422,
      #"{"error":"Validation failed: taken","details":{"username":[{"error":"ERR_TAKEN","description":"is taken"}]}}"#,
      Reading("Validation failed: taken", nil, [Field(path: "username", message: "is taken", code: "ERR_TAKEN")])),
    Server(
      "Google, fields", 400,
      #"{"error":{"code":400,"message":"Bad mask","status":"INVALID_ARGUMENT","details":[{"fieldViolations":[{"field":"mask","description":"Is empty"}]}]}}"#,
      Reading("Bad mask", "INVALID_ARGUMENT", [Field(path: "mask", message: "Is empty")])),
  ]

  static let others: [Server] = [
    Server("OAuth, a code alone", 401, #"{"error":"invalid_token"}"#, Reading(nil, "invalid_token")),
    Server(
      "OAuth", 400, #"{"error":"invalid_grant","error_description":"Token has expired"}"#,
      Reading(
        "Token has expired",
        "invalid_grant")),
    Server(
      "Matrix", 403, #"{"errcode":"M_FORBIDDEN","error":"Invalid password"}"#,
      Reading("Invalid password", "M_FORBIDDEN")),
    Server(
      "TMDb", 401, #"{"status_code":7,"status_message":"Invalid API key","success":false}"#,
      Reading("Invalid API key", "7")),
    Server("Slack", 400, #"{"ok":false,"error":"channel_not_found"}"#, Reading(nil, "channel_not_found")),
    Server(
      "GraphQL", 400,
      #"{"errors":[{"message":"Sign in first","path":["me"],"extensions":{"code":"UNAUTHENTICATED"}}]}"#,
      Reading("me: Sign in first", "UNAUTHENTICATED", [Field(path: "me", message: "Sign in first")])),
    Server("GraphQL, without a path", 400, #"{"errors":[{"message":"Syntax error"}]}"#, Reading("Syntax error")),
    Server("Firebase", 400, #"{"error":{"code":400,"message":"EMAIL_NOT_FOUND"}}"#, Reading(nil, "EMAIL_NOT_FOUND")),
    Server(
      "Supabase", 400, #"{"code":400,"error_code":"invalid_credentials","msg":"Wrong password"}"#,
      Reading(
        "Wrong password",
        "invalid_credentials")),
    Server(
      "PostgREST", 406, #"{"code":"PGRST116","details":null,"hint":null,"message":"No rows"}"#,
      Reading("No rows", "PGRST116")),
    Server(
      "CouchDB", 401, #"{"error":"unauthorized","reason":"Name or password is incorrect."}"#,
      Reading("Name or password is incorrect.", "unauthorized")),
    Server(
      "Elasticsearch", 404,
      #"{"error":{"type":"index_not_found_exception","reason":"no such index [x]"},"status":404}"#,
      Reading("no such index [x]", "index_not_found_exception")),
    Server(
      "Kubernetes", 404,
      #"{"kind":"Status","status":"Failure","message":"pods x not found","reason":"NotFound","code":404}"#,
      Reading("pods x not found", "NotFound")),
    Server(
      "AWS", 400, ##"{"__type":"com.amazon#ResourceNotFound","message":"No such table"}"##,
      Reading(
        "No such table",
        "ResourceNotFound")),
    Server(
      "Salesforce", 400, #"[{"message":"Name is missing","errorCode":"REQUIRED_FIELD","fields":["Name"]}]"#,
      Reading(
        "Name: Name is missing",
        "REQUIRED_FIELD", [Field(path: "Name", message: "Name is missing", code: "REQUIRED_FIELD")])),
    Server("Twilio", 401, #"{"code":20003,"message":"Authenticate","status":401}"#, Reading("Authenticate", "20003")),
    Server("A large code", 400, #"{"code":9007199254740993,"message":"No"}"#, Reading("No", "9007199254740993")),
    Server("An object of something else", 400, #"{"items":["a"],"count":1}"#, Reading(nil)),
    Server("Lists behind 5xx", 500, #"{"name":["x y"]}"#, Reading(nil)),
  ]
}

@Suite("Rejections of real servers") struct RejectionServersTests {
  @Test("The message, the code and the fields are read from each server's rejection", arguments: Server.all)
  private func server(_ server: Server) {
    let content = Content(data: Data(server.body.utf8), mediaType: .json, status: server.status)
    let rejection = Rejection(content, decoder: nil)
    #expect(rejection.message == server.message)
    #expect(rejection.code == server.code)
    #expect(rejection.fields == server.fields)
  }

  @Test(
    "Plain text is a message if it is short, printable and written by the service itself",
    arguments: [
      ("The name is taken.\n", 422, "The name is taken."), ("One\nTwo", 400, "One Two"), ("invalid_name", 400, nil),
      ("", 400, nil),
      ("<html>no</html>", 400, nil), (#"{"a":1}"#, 400, nil), ("[1]", 400, nil), ("no healthy upstream", 503, nil),
      ("Not Found\n", 404, nil), ("a\u{1B}[31mb", 400, nil), ("a\0b", 400, nil),
      (String(repeating: "word ", count: 61), 400, nil),
    ] as [(String, Int, String?)])
  func plain(text: String, status: Int, message: String?) {
    let rejection = Rejection(Content(data: Data(text.utf8), mediaType: .text, status: status), decoder: nil)
    #expect(rejection.message == message)
    #expect(rejection.code == (text == "invalid_name" ? text : nil))
    let bytes = Rejection(Content(data: Data([0x61, 0xFF]), mediaType: .text, status: 400), decoder: nil)
    #expect(bytes.message == nil && bytes.code == nil)
  }

  @Test(
    "A message has no control, direction or format characters",
    arguments: [
      ("a\u{202E}b\u{2066}c\u{200B}d\u{FEFF}e\u{E0041}f\u{AD}g", "abcdefg"),
      ("one\r\n\ttwo\u{2028}three\u{2029}", "one two three"),
      ("\u{1B}[31mred\u{7F}\u{9B}", "[31mred"), ("\u{0}\u{1}\u{202E}", nil), ("  much \u{A0} space  ", "much space"),
      ("naïve 日本 😀", "naïve 日本 😀"), ("a\u{E000}b\u{FFFE}c", "abc"),
    ] as [(String, String?)])
  func characters(text: String, sentence: String?) {
    let body = JSONValue.object(["message": .string(text)]).utf8()
    #expect(Rejection(Content(data: Data(body), mediaType: .json, status: 400), decoder: nil).message == sentence)
    let envelope = JSONValue.object(["code": 1, "message": .string(text)]).utf8()
    let error = #expect(throws: EnvelopeRejection.self) {
      try EnvelopeFormat().check(Content(data: Data(envelope), mediaType: .json))
    }
    #expect(error?.message == sentence)
  }

  @Test("A message has at most 300 characters", arguments: [299, 300, 301, 1000, 100_000])
  func length(count: Int) throws {
    for piece in ["x", "é", "日", "\u{301}", "😀"] {
      let body = JSONValue.object(["message": .string("a" + String(repeating: piece, count: count - 1))]).utf8()
      let rejection = Rejection(Content(data: Data(body), mediaType: .json, status: 400), decoder: nil)
      let message = try #require(rejection.message)
      #expect(message.unicodeScalars.count == min(300, count))
      #expect(message.unicodeScalars.last == (count > 300 ? "…" : piece.unicodeScalars.last))
    }
    let words = JSONValue.object(["message": .string(String(repeating: "word ", count: count))]).utf8()
    let message = Rejection(Content(data: Data(words), mediaType: .json, status: 400), decoder: nil).message
    #expect((message?.unicodeScalars.count ?? 301) <= 300)
  }

  @Test("At most a hundred fields are read")
  func many() {
    let entries = (0..<500).map { #"{"field":"f\#($0)","message":"no \#($0)"}"# }.joined(separator: ",")
    let rejection = Rejection(
      Content(data: Data(#"{"errors":[\#(entries)]}"#.utf8), mediaType: .json, status: 400), decoder: nil)
    #expect(rejection.fields.count == 100)
    #expect(rejection.fields.last == Rejection.FieldError(path: "f99", message: "no 99"))
  }

  @Test(
    "Codes are distinguished from messages",
    arguments: [
      ("invalid_token", true), ("auth.expired", true), ("not-found", true), ("NotFound", true), ("emailTaken", true),
      ("EMAIL_NOT_FOUND", true), ("Unauthenticated.", false), ("Unauthorized", false), ("gone", false),
      ("No such user", false),
      ("", false), ("_x", false), ("naïve_x", false), (String(repeating: "a_", count: 40) + "a", false),
    ])
  func codes(text: String, isCode: Bool) {
    #expect(ServerText.isCode(text) == isCode)
    #expect(ServerText.isCode("gone", orWord: true) && ServerText.isCode("GONE", orWord: true))
    #expect(!ServerText.isCode("Gone", orWord: true))
  }
}
