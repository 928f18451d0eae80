import ApusTesting
import Foundation
import TestSupport
import Testing

@testable import ApusJSON

@Suite("Members of objects") struct MemberTests {
  /// Decodes the members with the given names, in that order.
  private func members(_ names: [String], _ text: String, _ coding: JSONCoding = .default) throws -> [Int?] {
    let document = try coding.document(Data(text.utf8))
    return try names.map { name in
      try document.position(of: name, in: JSONTape.root, isWrittenInSource: false).map { try document.integer(at: $0) }
    }
  }

  @Test("Members are found in any order and repeatedly; missing members are not found")
  func order() throws {
    let text = #"{"a":1,"bb":2,"ccc":3,"ddddddddd":4,"dddddddde":5}"#
    #expect(
      try members(["ccc", "a", "x", "dddddddde", "a", "bb", "", "ddddddddd"], text) == [3, 1, nil, 5, 1, 2, nil, 4])
  }

  @Test("The last of several members with the same name is decoded, by every decoding function")
  func duplicates() throws {
    struct Model: Decodable, Equatable {
      var a: Int
      var b: Int
    }
    for text in [
      #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"a":3,"b":2}"#, #"{"a":1,"b":2,"\u0061":3}"#, #"{"\u0061":1,"b":2,"a":3}"#,
      #"{"b":2,"a":{"a":[]},"a":[1,2],"a":3}"#,
    ] {
      let data = Data(text.utf8)
      #expect(try JSONCoding.default.decode(Model.self, from: data) == Model(a: 3, b: 2), "\(text)")
      #expect(try JSONValue(parsing: data) == ["a": 3, "b": 2])
      #expect(try JSONCoding.snakeCase.decode(Model.self, from: data) == Model(a: 3, b: 2))
      let container = try JSONCoding.default.document(data)
      #expect(try KeyedContainer<JSONKey>(container, object: JSONTape.root, depth: 0).allKeys.count == 2)
    }
    #expect(
      try JSONCoding.default.decode([String: Int].self, from: Data(#"{"a":1,"b":2,"a":3}"#.utf8)) == ["a": 3, "b": 2])
  }

  @Test("The last of several equal names is used at any position, in objects of any size", arguments: 1..<40)
  func repeated(count: Int) throws {
    struct Names: Decodable {
      var count: Int
      init(from decoder: any Decoder) throws {
        count = try decoder.container(keyedBy: JSONKey.self).allKeys.count
      }
    }
    let names = (0..<count).map { "name\($0)" }
    for (index, name) in names.enumerated() {
      let members = names.enumerated().map { "\"\($1)\":\($0)" } + ["\"\(name)\":-1"]
      let text = "{\(members.joined(separator: ","))}"
      var expected: [Int?] = Array(0..<count)
      expected[index] = -1
      #expect(try self.members(names, text) == expected, "\(text)")
      #expect(try self.members(names.reversed(), text) == expected.reversed(), "\(text)")
      #expect(try JSONCoding.default.decode(Names.self, from: Data(text.utf8)).count == count)
      #expect(try JSONCoding.snakeCase.decode(Names.self, from: Data(text.utf8)).count == count)
      #expect(try JSONValue(parsing: Data(text.utf8)).object?[name] == -1)
    }
  }

  @Test("Fuzz: each reader finds the last of several equal names, written with escapes or not", arguments: 0..<4)
  func lastNames(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    // The two names of each pair are equal.
    let names = [
      ("a", #"\u0061"#), ("b", "b"), ("ab", #"a\u0062"#), ("", ""), ("é", #"\u00e9"#), ("name_of_9", "name_of_9"),
      ("abcdefgh", "abcdefgh"), ("abcdefghi", #"abcdefgh\u0069"#), ("abcdefghij", "abcdefghij"),
    ]
    for _ in 0..<fuzzRounds(usually: 200) {
      var (expected, members): ([String: Int], [String]) = ([:], [])
      for value in 0..<Int.random(in: 1...40, using: &generator) {
        let name = names[Int.random(in: 0..<names.count, using: &generator)]
        expected[name.0] = value
        let written = Int.random(in: 0..<8, using: &generator) == 0 ? name.1 : name.0
        members.append("\"\(written)\":\(value)")
      }
      let text = "{\(members.joined(separator: ","))}"
      let order = names.map(\.0).shuffled(using: &generator)
      try #require(try self.members(order, text) == order.map { expected[$0] }, "\(text)")
      try #require(try JSONCoding.default.decode([String: Int].self, from: Data(text.utf8)) == expected, "\(text)")
      let value = try JSONValue(parsing: Data(text.utf8))
      try #require(order.allSatisfy { name in value.object?[name] == expected[name].map { .number(JSONNumber($0)) } })
    }
  }

  @Test("A dictionary value that a later member replaces may have any type")
  func replacedValues() throws {
    func decode(_ text: String) throws -> [String: Int] {
      try JSONCoding.default.decode([String: Int].self, from: Data(text.utf8))
    }
    #expect(try decode(#"{"a":"x","b":1,"a":2}"#) == ["a": 2, "b": 1])
    #expect(try decode(#"{"a":[],"a":"x","a":3}"#) == ["a": 3])
    for text in [#"{"a":1,"a":"x"}"#, #"{"a":"x","b":1}"#, #"{"a":"x","a":1,"b":[]}"#] {
      #expect(throws: DecodingError.self, "\(text)") { try decode(text) }
    }
    let wrong = { (count: Int) in "{\((0..<count).map { "\"k\($0)\":\"x\"" }.joined(separator: ","))}" }
    #expect(LinearTime.holds(for: { wrong($0 / 12) }, { _ = try? decode($0) }))
  }

  @Test("Large objects are read in order, in random order and with duplicates", arguments: [17, 24, 25, 26, 1000])
  func large(count: Int) throws {
    var generator = SeededGenerator(seed: UInt64(count))
    let names = (0..<count).map { "n\($0)" }
    let text = "{\(names.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ","))}"
    #expect(try members(names, text) == Array(0..<count))
    let order = Array(0..<count).shuffled(using: &generator)
    #expect(try members(order.map { names[$0] } + ["n", "n\(count)"], text) == order + [nil, nil])
    let repeated = text.dropLast() + ",\"n3\":-3,\"\\u006e5\":-5}"
    #expect(try members(["n5", "n3", "n4", "n3"], String(repeated)) == [-5, -3, 4, -3])
    #expect(try JSONCoding.default.decode([String: Int].self, from: Data(text.utf8)).count == count)
  }

  @Test("Members of large objects are found by keys in snake case, in time that grows with their number")
  func largeSnakeCase() throws {
    func text(_ count: Int) -> String {
      "{\((0..<count).map { "\"first_name_\($0)\":\($0)" }.joined(separator: ",")),\"first_name_3\":-3}"
    }
    let names = (0..<100).map { "firstName\($0)" }
    var expected: [Int?] = Array(0..<100)
    expected[3] = -3
    #expect(try members(names + ["lastName", "first_name_1"], text(100), .snakeCase) == expected + [nil, nil])
    #expect(try members(names.reversed(), text(100), .snakeCase) == expected.reversed())
    func time(_ count: Int) throws -> Double {
      let (text, names) = (text(count), (0..<count).map { "firstName\($0)" }.shuffled())
      return try LinearTime.time { _ = try members(names, text, .snakeCase) }
    }
    let small = try (0..<5).map { _ in try time(200) }.min() ?? 0
    let large = try (0..<3).map { _ in try time(3200) }.min() ?? 0
    // If each key were compared with each name, 16 times as many members would take 256 times as long.
    #expect(large < small * 100)
  }

  @Test("Members with escaped, empty, long and non-ASCII names are found")
  func names() throws {
    let long = String(repeating: "long ", count: 60)
    let text = #"{"":1,"a\"b":2,"é":3,"\u00fc":4,"\#(long)":5,"\ud83d\ude00":6,"a/b":7}"#
    #expect(try members(["", "a\"b", "é", "ü", long, "😀", "a/b"], text) == [1, 2, 3, 4, 5, 6, 7])
    // The names are canonically equivalent, and Swift compares strings that way.
    #expect(try members(["e\u{301}", "u\u{308}"], text) == [3, 4])
  }

  @Test(
    "Names in snake case are converted as by Foundation",
    arguments: [
      "a", "one_two", "one_two_three", "_private", "__two_under_", "trailing__", "a__b", "ALL_CAPS", "mixedCase_x",
      "x1_y2", "_", "__", "é_ä", "url_path", "a_B", "oneTwo",
    ])
  func snakeCase(name: String) throws {
    struct Names: Decodable, Equatable {
      var names: [String]
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONKey.self)
        names = container.allKeys.map(\.stringValue)
        for key in container.allKeys { #expect(container.contains(key), "\(key.stringValue)") }
      }
    }
    expectAgreement(Names.self, "{\"\(name)\":1}".utf8, .snakeCase)
  }

  @Test("Fuzz: names are converted to and from snake case as by Foundation", arguments: 0..<2)
  func snakeCases(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var foundation = JSONCoding.snakeCase
    foundation.coder = .foundation
    for _ in 0..<fuzzRounds(usually: 300) {
      let letters = Array("abCDe1_Zé")
      let name = String(
        (0..<Int.random(in: 1...8, using: &generator)).map { _ in letters.randomElement(using: &generator) ?? "a" })
      let one = try JSONCoding.snakeCase.encode(Single(name: name))
      #expect(try one == foundation.encode(Single(name: name)), "\(name)")
      let key = try JSONCoding.snakeCase.decode(Keys.self, from: one).name
      #expect(try key == foundation.decode(Keys.self, from: one).name)
    }
  }

  private struct Single: Encodable {
    let name: String
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: JSONKey.self)
      try container.encode(1, forKey: JSONKey(name))
    }
  }

  private struct Keys: Decodable {
    let name: String?
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: JSONKey.self)
      name = container.allKeys.first?.stringValue
      if let key = container.allKeys.first { #expect(try container.decode(Int.self, forKey: key) == 1) }
    }
  }
}
