import ApusCore
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct Item: Codable, Sendable, Hashable { var id: Int }

extension Endpoint where Self == Request<EventStream<Item>> {
  fileprivate static func activity(of id: Int) -> Self { .get("/users/\(id)/activity") }
}

extension Endpoint where Self == Request<JSONStream<Item>> {
  fileprivate static var export: Self { .post("/export", content: .text("all")) }
}

private struct GetLog: Endpoint {
  var request: Request<LineStream> { .query("/log", content: .text("today")) }
}

private struct GetFile: Endpoint {
  var request: Request<LineStream> { .method(.get, "/file", query: ["id": 7]) }
}

private enum StreamedItemAPI: Endpoint {
  case all
  var request: Request<EventStream<ServerSentEvent>> { .get("/items") }
}

// An endpoint that is not a stream, whose value type the compiler infers.
extension Endpoint where Self == Request<Item> {
  fileprivate static var item: Self { .get("/item") }
}

@Suite("Endpoints of streams")
struct StreamEndpointTests {
  @Test("Streams can be declared in every style of endpoint")
  func styles() async throws {
    let api = client(answering: .status(204))
    for try await _ in api.stream(.activity(of: 7)) {}
    for try await _ in api.stream(.export) {}
    for try await _ in api.stream(GetLog()) {}
    for try await _ in api.stream(GetFile()) {}
    for try await _ in api.stream(StreamedItemAPI.all) {}
    let inline: LiveStream<Item> = api.stream(Request<JSONStream<Item>>.get("/items"))
    for try await _ in inline {}
    let modified = api.stream(.activity(of: 7).tag("live").streaming { $0.reconnects = false })
    for try await _ in modified {}
  }

  @Test("The type of the value selects between the factory methods of streams and of other values")
  func otherValues() async throws {
    let api = client(answering: .json(#"{"id":7}"#))
    let inferred: Item = try await api.send(Request.get("/item"))
    #expect(inferred.id == 7)
    #expect(try await api.send(.item).id == 7)
    let data: Data = try await api.send(.get("/item"))
    #expect(data.count == 8)
    let optional: Item? = try await api.send(.post("/item"))
    #expect(optional?.id == 7)
    try await api.send(.post("/item"))
    try await api.send(.method(.get, "/item"))
    let content: Content = try await api.send(Request<Content>.query("/item", content: .empty))
    #expect(content.status == 200)
    #expect(try await api.send(Request<Content>.get("/item"), as: Item.self).id == 7)
    #expect(try await api.send(Request<[String: Int]>.method(.patch, "/item")) == ["id": 7])
  }

  @Test("The method, the content and the accepted media types of a stream are sent")
  func messages() async throws {
    let activity = try await builtMessage(Request<EventStream<Item>>.activity(of: 7))
    #expect(activity.target == "/users/7/activity")
    #expect(activity.head.headerFields[.accept] == "text/event-stream")
    let export = try await builtMessage(Request<JSONStream<Item>>.export)
    #expect(export.head.method == .post)
    #expect(content(of: export) == "all")
    #expect(export.head.headerFields[.accept] == "application/x-ndjson, application/jsonl, application/json-seq")
    let log = try await builtMessage(GetLog())
    #expect(log.head.method.rawValue == "QUERY")
    #expect(content(of: log) == "today")
    #expect(log.head.headerFields[.accept] == "*/*")
    let file = try await builtMessage(GetFile())
    #expect(file.target == "/file?id=7")
    #expect(file.head.headerFields[.accept] == "*/*")
  }

  @Test("send collects the elements of a whole response with the parser of the stream")
  func collecting() async throws {
    let api = client(answering: .bytes(Data("{\"id\":1}\n{\"id\":2}".utf8), type: "application/jsonl"))
    #expect(try await api.send(.export).elements == [Item(id: 1), Item(id: 2)])
    #expect(try await api.send(GetLog()).elements == ["{\"id\":1}", "{\"id\":2}"])
    let error = await failure { try await api.send(.activity(of: 7)) }
    #expect(error?.code == .decoding)
    #expect(error?.detail == "expected text/event-stream, got application/jsonl")
  }

  @Test("send applies the content limit and the options of the stream")
  func limits() async throws {
    let api = client(answering: .bytes(Data("{\"id\":1}\nx\n{\"id\":3}\n".utf8), type: "application/jsonl"))
    #expect(await failure { try await api.send(.export.contentLimit(5)) }?.code == .contentTooLarge)
    let error = await failure { try await api.send(.export) }
    #expect(error?.code == .decoding)
    #expect(error?.detail.hasPrefix("element 1: ") == true)
    let lenient = try await api.send(.export.streaming { $0.onUndecodable = { _ in } })
    #expect(lenient.elements == [Item(id: 1), Item(id: 3)])
  }

  @Test("Stream values for fakes can be created from elements")
  func fakes() {
    #expect(EventStream(["a"]).elements == ["a"])
    #expect(JSONStream([Item(id: 1)]).elements == [Item(id: 1)])
    #expect(LineStream(["a"]).elements == ["a"])
  }

  @Test("A stream for fakes returns its elements, then its error or the end")
  func fakeStreams() async throws {
    let complete = LiveStream(elements: [1, 2])
    var numbers: [Int] = []
    for try await number in complete { numbers.append(number) }
    #expect(numbers == [1, 2])
    var broken = LiveStream(elements: [1], error: CallError(.connectionLost)).makeAsyncIterator()
    #expect(try await broken.next() == 1)
    let error = await #expect(throws: CallError.self) { try await broken.next() }
    #expect(error?.code == .connectionLost)
    #expect(try await broken.next() == nil)
  }
}
