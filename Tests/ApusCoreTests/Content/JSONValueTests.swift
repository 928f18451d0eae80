import ApusTesting
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("JSONValue") struct JSONValueTests {
  @Test("JSONValue preserves every digit of a number in both directions")
  func exact() async throws {
    let json = #"{"big":9007199254740993,"far":1e400,"long":0.1234567890123456789012,"wide":18446744073709551616}"#
    let api = client(answering: .json(json))
    let value = try await api.send(Request<JSONValue>.get("/x"))
    #expect(value.description == json)
    #expect(try await api.send(Request<[String: JSONValue]>.get("/x"))["big"]?.number?.int == 9_007_199_254_740_993)
    #expect(try await api.send(Request<JSONValue>.get("/x").at("far")).description == "1e400")
    let format = JSONFormat()
    #expect(try format.encode(value) == Data(json.utf8))
    #expect(try format.encode([value]) == Data("[\(json)]".utf8))
    #expect(try format.encode(["v": value]) == Data(#"{"v":\#(json)}"#.utf8))
    #expect(try format.encode(JSONValue?.none) == Data("null".utf8))
    #expect(try format.decode([JSONValue].self, from: Data("[1e400]".utf8)).map(\.description) == ["1e400"])
    #expect(try format.decode(JSONValue?.self, from: Data("null".utf8)) == nil)
    #expect(try format.decode(JSONValue?.self, from: Data("1e400".utf8))?.description == "1e400")
    #expect(throws: DecodingError.self) { try format.decode([JSONValue].self, from: Data("{}".utf8)) }
    #expect(throws: DecodingError.self) { try format.decode([String: JSONValue].self, from: Data("[]".utf8)) }
  }

  @Test("JSONValue is decoded at a path or in an envelope like a model, with the same errors")
  func places() async throws {
    let api = client(answering: .json(#"{"code":0,"result_page":{"big":9007199254740993}}"#))
    for coding in [JSONCoding.default, .snakeCase] {
      for path in ["result_page.big", "resultPage.big"] where coding.keys == .snakeCase || path.contains("_") {
        let request = Request<JSONValue>.get("/x").at(path).json(coding)
        #expect(try await api.send(request).number?.int == 9_007_199_254_740_993)
      }
      let enveloped = Request<JSONValue>.get("/x").enveloped(EnvelopeFormat(data: "result_page")).json(coding)
      #expect(try await api.send(enveloped) == ["big": 9_007_199_254_740_993])
    }
    for (path, place, detail) in [
      ("result_page.none", "result_page.none", "a key is missing from the object (line 1, column 25, byte 24)"),
      ("none.big", "none", "a key is missing from the object (line 1, column 1, byte 0)"),
      ("code.x", "code", "expected an object, found a number (line 1, column 9, byte 8)"),
    ] {
      let error = await failure {
        try await api.send(Request<JSONValue>.get("/x").at(path))
      }
      #expect(error?.code == .decoding && error?.codingPath == place && error?.detail == detail)
    }
    let none = Request<JSONValue>.get("/x").enveloped(EnvelopeFormat())
    #expect(try await api.send(none) == .null)
  }

  @Test("Fuzz: decoding a random response returns a value or throws a typed error, without a trap", arguments: 0..<6)
  func fuzz(seed: UInt64) throws {
    struct Model: Decodable, Sendable {
      var items: [Item]
      struct Item: Decodable, Sendable { var title: String? }
    }
    var generator = SeededGenerator(seed: seed)
    let seeds = [
      #"{"items":[{"title":"a"},{"title":null}],"code":0,"data":{"items":[]}}"#, "[1,2.5e300,-0,\"\\ud83d\\ude00\"]",
      #"{"code":"x","message":["m"],"error":{"code":1}}"#,
    ].map { Array($0.utf8) }
    for _ in 0..<fuzzRounds(usually: 1500) {
      var bytes = seeds.randomElement(using: &generator) ?? []
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let index = Int.random(in: 0..<max(1, bytes.count), using: &generator)
        switch UInt8.random(in: 0...3, using: &generator) {
        case 0 where !bytes.isEmpty: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1 where !bytes.isEmpty: bytes.remove(at: index)
        case 2:
          bytes.insert(Array("{}[]\",:\\e-1".utf8).randomElement(using: &generator) ?? 0, at: min(index, bytes.count))
        default: bytes = Array(bytes.prefix(index))
        }
      }
      let content = Content(data: Data(bytes), mediaType: .json, status: 400)
      _ = Rejection(content, decoder: { try? $0.decode(Model.self) })
      for mapping in [ResponseMapping<Model>.decoded, .decoded(at: "data"), .enveloped(EnvelopeFormat())] {
        do {
          _ = try mapping.read(content)
        } catch {
          #expect(error is DecodingError || error is JSONError || error is CallFault || error is EnvelopeRejection)
          #expect(!DecodingFailure(error).description.isEmpty)
        }
      }
      _ = try? ResponseMapping<LossyArray<Model>>.decoded.read(content)
      _ = try? ResponseMapping<String>.decoded.read(content)
    }
  }
}
