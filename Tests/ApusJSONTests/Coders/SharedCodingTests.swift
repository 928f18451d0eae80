import Foundation
import Testing

@testable import ApusJSON

@Suite("A coding used by many tasks") struct SharedCodingTests {
  /// Returns whether a value is decoded from its own encoding, but not from another text.
  private static func isShared<Value: Codable & Equatable>(_ coding: JSONCoding, _ value: Value) throws -> Bool {
    let text = try coding.encode(value)
    let isRefused = (try? coding.decode(Value.self, from: Data("{\"a\":[1,}".utf8))) == nil
    return try coding.decode(Value.self, from: text) == value && isRefused
  }

  // The first tasks add all types to the type tables concurrently, and empty arrays share one storage.
  @Test("Many tasks decode and encode values of many types with one coding concurrently")
  func shared() async throws {
    let coding = JSONCoding.snakeCase
    let uses: [@Sendable () throws -> Bool] = [
      { try Self.isShared(coding, Scalars()) }, { try Self.isShared(coding, FoundationValues()) },
      { try Self.isShared(coding, Optionals()) }, { try Self.isShared(coding, Containers()) },
      { try Self.isShared(coding, Dog()) }, { try Self.isShared(coding, Manual()) },
      { try Self.isShared(coding, [Flexible.number(1), .list([])]) },
      { try Self.isShared(coding, [CodableFilm.sample, .sample]) },
      { try Self.isShared(coding, ["a": ["b": JSONValue.array([])]]) }, { try Self.isShared(coding, [String]()) },
      { try Self.isShared(coding, [Int]()) }, { try Self.isShared(coding, [Double]()) },
      { try Self.isShared(coding, [Bool]()) }, { try Self.isShared(coding, [[Int]](repeating: [], count: 3)) },
      { try Self.isShared(coding, [CodableFilm]()) }, { try Self.isShared(coding, [Optionals]()) },
      { try Self.isShared(coding, ["a": [String](), "b": ["c"]]) }, { try Self.isShared(coding, [Float(1.5), 0]) },
      {
        let text = try coding.encode([CodableFilm.sample])
        return try coding.encode(coding.decode([Film].self, from: text)) == text
      },
      { try coding.decode([String: [Film]].self, from: Data(#"{"none":[],"nothing":[]}"#.utf8)).count == 2 },
    ]
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<200 { group.addTask { try uses[index % uses.count]() } }
      for try await isShared in group { #expect(isShared) }
    }
  }

  @Test("A coding with `coder = .foundation` uses Foundation's coders")
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
