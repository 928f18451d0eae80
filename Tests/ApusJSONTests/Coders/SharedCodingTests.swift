import Foundation
import Testing

@testable import ApusJSON

@Suite("A coding used by many tasks") struct SharedCodingTests {
  @Test("Many tasks decode and encode with one coding at the same time")
  func shared() async throws {
    let coding = JSONCoding.snakeCase
    let containers = try coding.encode(Containers())
    let film = try coding.encode([CodableFilm.sample])
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<64 {
        group.addTask {
          switch index % 4 {
          case 0: return try coding.decode(Containers.self, from: containers) == Containers()
          case 1: return try coding.decode([CodableFilm].self, from: film) == [.sample]
          case 2: return try coding.encode(coding.decode([Film].self, from: film)) == film
          default: return try coding.decode(Manual.self, from: coding.encode(Manual())) == Manual()
          }
        }
      }
      for try await isSame in group { #expect(isSame) }
    }
  }

  @Test("Foundation's coders are used if a coding says so")
  func foundation() throws {
    var coding = JSONCoding.default
    coding.coder = .foundation
    // Only Foundation accepts a comma before the end of an array.
    #expect(try coding.decode([Int].self, from: Data("[1,]".utf8)) == [1])
    #expect(throws: JSONError(.unexpectedByte, at: 3)) {
      try JSONCoding.default.decode([Int].self, from: Data("[1,]".utf8))
    }
    #expect(try coding.encode(["b": 1, "a": 2]) == Data(#"{"a":2,"b":1}"#.utf8))
  }
}
