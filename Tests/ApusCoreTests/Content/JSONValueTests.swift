import ApusTesting
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Any JSON") struct JSONValueTests {
  @Test("Every kind of value is read and written")
  func kinds() throws {
    let text = #"{"a":[null,true,1,2.5,"x",{}],"b":{"c":[]}}"#
    let value = try JSONCoding.standard.decoder.decode(JSONValue.self, from: Data(text.utf8))
    let expected = JSONValue.object([
      "a": .array([.null, .bool(true), .number(1), .number(2.5), .string("x"), .object([:])]),
      "b": .object(["c": .array([])]),
    ])
    #expect(value == expected)
    let written = try JSONCoding.standard.encoder.encode(value)
    #expect(try JSONCoding.standard.decoder.decode(JSONValue.self, from: written) == expected)
  }

  @Test("Members, texts and numbers are nil where there are none")
  func parts() {
    let value = JSONValue.object(["s": .string("x"), "n": .number(1)])
    #expect(value["s"]?.string == "x" && value["n"]?.number == 1)
    #expect(value["none"] == nil && value.string == nil && value.number == nil)
    #expect(JSONValue.null["x"] == nil)
  }

  @Test("Random answers are a value or a typed error, never a trap", arguments: 0..<6)
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
          #expect(error is DecodingError || error is CallFault || error is EnvelopeRejection)
          #expect(!DecodingFailure(error).description.isEmpty)
        }
      }
      _ = try? ResponseMapping<LossyArray<Model>>.decoded.read(content)
      _ = try? ResponseMapping<String>.decoded.read(content)
    }
  }
}
