import ApusTesting
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct Film: Decodable, Sendable, Equatable { var title: String }

@Suite("Lossy arrays") struct LossyArrayTests {
  @Test("A lossy array contains the valid elements in order, and reports each invalid element with index and reason")
  func drops() async throws {
    let json = #"[{"title":"a"},{"title":1},null,{"title":"b"},{},[],"secret",{"title":"c"}]"#
    let films = try await client(answering: .json(json)).send(Request<LossyArray<Film>>.get("/x"))
    #expect(films.elements.map(\.title) == ["a", "b", "c"])
    #expect(films.skipped.map(\.index) == [1, 2, 4, 5, 6])
    #expect(
      films.skipped[0].description
        == "element 1: expected String, found a number (line 1, column 25, byte 24) at [1].title")
    #expect(films.skipped.allSatisfy { $0.error is DecodingError && !$0.description.contains("secret") })
  }

  @Test("A lossy array of valid elements skips no element")
  func good() async throws {
    let numbers = try await client(answering: .json("[1,2]")).send(Request<LossyArray<Int>>.get("/x"))
    #expect(numbers.elements == [1, 2] && numbers.skipped.isEmpty)
  }

  @Test(
    "Elements of a lossy array are decoded in the formats of the coding, by both coders, or by their own initializer")
  func formats() async throws {
    struct Marked: Codable, JSONReadable {
      var isRead = false
      init(from decoder: any Decoder) throws {}
      init(from reader: inout JSONReader) throws {
        try reader.skip()
        isRead = true
      }
    }
    for coder in [JSONCoding.Coder.apus, .foundation] {
      var coding = JSONCoding.default
      coding.coder = coder
      let dates = try coding.decode(LossyArray<Date>.self, from: Data(#"["1970-01-01T00:00:07Z",null,"x",8]"#.utf8))
      #expect(dates.elements == [Date(timeIntervalSince1970: 7)] && dates.skipped.map(\.index) == [1, 2, 3])
      let optionals = try coding.decode(LossyArray<Int?>.self, from: Data(#"[1,null,"x"]"#.utf8))
      #expect(optionals.elements == [1, nil] && optionals.skipped.map(\.index) == [2])
    }
    let marked = try JSONCoding.default.decode(LossyArray<Marked>.self, from: Data("[1,2]".utf8))
    #expect(marked.elements.map(\.isRead) == [true, true])
  }

  @Test("Decoding a lossy array from content that is not an array fails", arguments: ["{}", "null", "7"])
  func noArray(json: String) async {
    let error = await failure {
      try await client(answering: .json(json)).send(Request<LossyArray<Film>>.get("/x"))
    }
    #expect(error?.code == .decoding)
  }

  @Test("Decoding an ordinary array with an invalid element fails")
  func strict() async {
    let error = await failure {
      try await client(answering: .json("[1,\"x\"]")).send(Request<[Int]>.get("/x"))
    }
    #expect(error?.code == .decoding && error?.codingPath == "[1]")
  }
}
