import ApusTesting
import Testing

@testable import ApusCore

private struct Film: Decodable, Sendable, Equatable { var title: String }

@Suite("Lossy arrays") struct LossyArrayTests {
  @Test("Valid elements are kept in order, and each invalid one is reported with its index and reason")
  func drops() async throws {
    let json = #"[{"title":"a"},{"title":1},null,{"title":"b"},{},[],"secret",{"title":"c"}]"#
    let films = try await client(answering: .json(json)).send(Request<LossyArray<Film>>.get("/x"))
    #expect(films.elements.map(\.title) == ["a", "b", "c"])
    #expect(films.skipped.map(\.index) == [1, 2, 4, 5, 6])
    #expect(
      films.skipped[0].description
        == "item 1: expected String, found a number (line 1, column 25, byte 24) at [1].title")
    #expect(films.skipped.allSatisfy { $0.error is DecodingError && !$0.description.contains("secret") })
  }

  @Test("An array of valid elements drops nothing")
  func good() async throws {
    let numbers = try await client(answering: .json("[1,2]")).send(Request<LossyArray<Int>>.get("/x"))
    #expect(numbers.elements == [1, 2] && numbers.skipped.isEmpty)
  }

  @Test("Content that is not an array is a decoding error", arguments: ["{}", "null", "7"])
  func noArray(json: String) async {
    let error = await failure {
      try await client(answering: .json(json)).send(Request<LossyArray<Film>>.get("/x"))
    }
    #expect(error?.code == .decoding)
  }

  @Test("Ordinary arrays are not lossy")
  func strict() async {
    let error = await failure {
      try await client(answering: .json("[1,\"x\"]")).send(Request<[Int]>.get("/x"))
    }
    #expect(error?.code == .decoding && error?.codingPath == "[1]")
  }
}
