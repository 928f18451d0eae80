import ApusJSON
import Foundation
import Testing

@Suite("JSON values") struct JSONValueTests {
  private let value: JSONValue = [
    "s": "x", "n": 1, "d": 2.5, "b": true, "z": .null, "a": [1, "two", [3]], "o": ["k": [:]],
  ]

  @Test("Missing members, elements and values of a JSONValue are nil")
  func parts() {
    #expect(value["s"]?.string == "x" && value["n"]?.number == 1 && value["b"]?.bool == true)
    #expect(value["a"]?[2]?[0]?.number?.int == 3 && value["a"]?.array?.count == 3)
    #expect(value["a"]?[3] == nil && value["a"]?[-1] == nil && value["s"]?[0] == nil)
    #expect(
      value["none"] == nil && value.string == nil && value.number == nil && value.bool == nil && value.array == nil)
    #expect(value["o"]?.object == ["k": [:]] && value["a"]?.object == nil && JSONValue.null["x"] == nil)
  }

  @Test("The last of several equal names in a JSONValue literal is used")
  func literal() {
    #expect((["a": 1, "a": 2] as JSONValue) == ["a": 2])
  }

  @Test("A JSONValue is serialized with sorted members and parses to itself")
  func writing() throws {
    #expect(
      value.description == #"{"a":[1,"two",[3]],"b":true,"d":2.5,"n":1,"o":{"k":{}},"s":"x","z":null}"#)
    #expect(try JSONValue(parsing: value.utf8()) == value)
    let text: JSONValue = "\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}é😀"
    #expect(text.description == #""\"\\/\b\f\n\r\t\u0000\u001f"# + "\u{7F}é😀\"")
    #expect(try JSONValue(parsing: text.utf8()) == text)
  }

  @Test("JSONValues are equal, and hash equally, whatever the order of members")
  func equality() throws {
    let one = try JSONValue(parsing: #"{"a":1,"b":[1.0,{"x":null}]}"#.utf8)
    let other = try JSONValue(parsing: #"{"b":[1,{"x":null}],"a":1e0}"#.utf8)
    #expect(one == other && one.hashValue == other.hashValue)
    for different: JSONValue in [
      ["a": 1], ["a": 1, "b": [1]], ["a": 1, "c": [1, ["x": .null]]], ["a": true, "b": [1, ["x": .null]]],
      ["a": "1", "b": [1, ["x": .null]]], ["a": 1, "b": [1, ["x": false]]], [1], .null,
    ] {
      #expect(one != different && different != one)
    }
  }

  @Test("Other coders decode and encode JSONValues with unchanged keys")
  func coders() throws {
    let snake = JSONDecoder()
    snake.keyDecodingStrategy = .convertFromSnakeCase
    let text = Data(#"{"my_key":[null,true,1,2.5,"x",{"other_key":{}},[]],"big":9007199254740993}"#.utf8)
    let expected: JSONValue = [
      "my_key": [.null, true, 1, 2.5, "x", ["other_key": [:]], []], "big": 9_007_199_254_740_993,
    ]
    #expect(try snake.decode(JSONValue.self, from: text) == expected)
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    #expect(try JSONValue(parsing: encoder.encode(expected)) == expected)
    var plain = expected
    if case .object(var members) = plain {
      members["my_key"] = [true, 1, 2.5, "x", ["other_key": [:]], []]
      plain = .object(members)
    }
    #expect(try PropertyListDecoder().decode(JSONValue.self, from: PropertyListEncoder().encode(plain)) == plain)
  }

  @Test("With other coders, JSONValues that are nested too deeply are refused")
  func codableDepth() throws {
    func nested(_ depth: Int) -> Data {
      Data((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    let deepest = try JSONDecoder().decode(JSONValue.self, from: nested(JSONValue.maximumCodableDepth))
    #expect(try JSONValue(parsing: JSONEncoder().encode(deepest)) == deepest)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(JSONValue.self, from: nested(JSONValue.maximumCodableDepth + 1))
    }
    let deeper = try JSONValue(parsing: nested(JSONValue.maximumCodableDepth + 1))
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(deeper) }
  }

  @Test("The error for an array with an invalid element concerns the element, not a missing object")
  func badElement() {
    #expect {
      try JSONDecoder().decode(JSONValue.self, from: Data("[1e999]".utf8))
    } throws: { error in
      guard case DecodingError.typeMismatch(_, let context) = error else { return false }
      return context.codingPath.map(\.intValue) == [0]
    }
  }
}
