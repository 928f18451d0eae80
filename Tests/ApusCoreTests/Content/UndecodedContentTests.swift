import ApusTesting
import Foundation
import HTTPTypes
import Testing

@testable import ApusCore

@Suite("Responses whose content coding was not removed")
struct UndecodedContentTests {
  private struct Film: Decodable, Sendable { var title: String }

  /// Bytes that are neither JSON nor UTF-8 text, like coded content.
  private static let bytes = Data([0x0B, 0x02, 0x80, 0x7B, 0x7D, 0x03])
  private static let detail = "the content has the content coding br, which was not decoded"

  private func reply(
    _ codings: String = "br", type: String = "application/json", status: Int = 200, content: Data = bytes
  ) -> StubReply {
    .bytes(content, type: type, status: status, fields: [.contentEncoding: codings])
  }

  private func failure<V: Sendable>(_ request: Request<V>, _ reply: StubReply) async -> CallError? {
    do throws(CallError) {
      _ = try await client(answering: reply).send(request)
      return nil
    } catch {
      return error
    }
  }

  @Test("The decoding error of a coded model, part of a model, envelope or text contains the content coding")
  func models() async {
    let errors = [
      await failure(Request<Film>.get("/x"), reply()), await failure(Request<Film>.get("/x").at("data"), reply()),
      await failure(Request<Film>.get("/x").enveloped(EnvelopeFormat()), reply()),
      await failure(Request<String>.get("/x"), reply()),
      // All bytes are valid Latin-1.
      await failure(Request<String>.get("/x"), reply(type: "text/plain; charset=iso-8859-1")),
    ]
    for error in errors {
      #expect(error?.code == .decoding)
      #expect(error?.detail == Self.detail)
      #expect(error?.content?.data == Self.bytes)
      #expect(error?.status == 200)
    }
  }

  @Test(
    "The error contains the content coding as a name that is safe to log",
    arguments: [
      ("zstd", "zstd"), ("BR", "br"), ("gzip", "gzip"), ("gzip, br", "gzip, br"), (" identity, br ,", "br"),
      ("a b", "an unknown one"), ("x\"y", "an unknown one"), (String(repeating: "x", count: 41), "an unknown one"),
      ("br, \u{202E}evil", "an unknown one"), ("br,br,br,br,br,br", "br, br, br, br, br"),
    ])
  func names(codings: String, name: String) async {
    let error = await failure(Request<Film>.get("/x"), reply(codings))
    #expect(error?.detail == "the content has the content coding \(name), which was not decoded")
  }

  @Test(
    "Plain content is decoded even if Content-Encoding declares a coding", arguments: ["utf-8", "none", "identity", ""])
  func readable(codings: String) async throws {
    let json = Data(#"{"title":"Ran"}"#.utf8)
    #expect(try await client(answering: reply(codings, content: json)).send(Request<Film>.get("/x")).title == "Ran")
    #expect(try await client(answering: reply(codings, content: json)).send(Request<String>.get("/x")).utf8.count == 15)
    let error = await failure(Request<Int>.get("/x"), reply(codings, content: json))
    #expect(error?.detail.contains("Expected Int") == true || error?.detail.contains("expected Int") == true)
  }

  @Test("The error of an app's parser contains the content coding and the parser's reason")
  func parser() async {
    struct Unreadable: LoggableError { var description: String { "no header" } }
    let mapping = ResponseMapping<Int> { _ in throw Unreadable() }
    let error = await failure(Request<Int>(method: .get, path: "/x", mapping: mapping), reply())
    #expect(error?.detail == "\(Self.detail) (no header)")
    #expect(error?.underlying is Unreadable)
  }

  @Test("Raw values contain the coded bytes, and the field Content-Encoding remains")
  func raw() async throws {
    let api = client(answering: reply())
    let response = try await api.response(to: Request<Content>.get("/x"))
    #expect(response.value.data == Self.bytes)
    #expect(response.head.headerFields[.contentEncoding] == "br")
    #expect(try await api.send(Request<Data>.get("/x")) == Self.bytes)
    try await api.send(Request<Void>.get("/x"))
    let collected = try await api.withResponse(to: Request<Data>.get("/x")) { response in
      #expect(response.head.headerFields[.contentEncoding] == "br")
      return try await response.collect()
    }
    #expect(collected == Self.bytes)
  }

  @Test(
    "A rejection is not decoded from coded bytes, and its error contains the content coding",
    arguments: ["application/json", "text/plain", "text/plain; charset=iso-8859-1"])
  func rejections(type: String) async {
    // The content is plain text; only `Content-Encoding` declares a coding.
    let error = await failure(
      Request<Film>.get("/x"), reply(type: type, status: 422, content: Data("It is not a film at all.".utf8)))
    #expect(error?.code == .rejected)
    #expect(error?.status == 422)
    #expect(error?.rejection?.message == nil)
    #expect(error?.rejection?.message == nil)
    #expect(error?.detail == Self.detail)
    #expect(error?.content?.data.isEmpty == false)
    let plain = await failure(
      Request<Film>.get("/x"), reply("utf-8", type: type, status: 422, content: Data("It is not a film at all.".utf8)))
    #expect(plain?.rejection?.message == (type == "application/json" ? nil : "It is not a film at all."))
    #expect(plain?.detail == "")
  }

  @Test("A stream of elements with a content coding fails at its start")
  func streams() async {
    func error<V: StreamedValue>(_ type: V.Type, _ mediaType: String) async -> [CallError?] {
      let api = client(answering: reply(type: mediaType))
      var errors = [await failure(Request<V>.get("/x"), reply(type: mediaType))]
      do throws(CallError) {
        for try await _ in api.stream(Request<V>.get("/x")) {}
      } catch {
        errors.append(error)
      }
      return errors
    }
    let errors = [
      await error(EventStream<String>.self, "text/event-stream"),
      await error(JSONStream<Film>.self, "application/jsonl"),
      await error(JSONStream<Film>.self, "application/json-seq"), await error(LineStream.self, "text/plain"),
      await error(PartStream.self, "multipart/mixed; boundary=x"),
    ]
    for error in errors.flatMap({ $0 }) {
      #expect(error?.code == .decoding)
      #expect(error?.detail == Self.detail)
    }
    #expect(errors.map(\.count) == [2, 2, 2, 2, 2])
  }
}
