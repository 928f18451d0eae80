import Foundation
import Testing

@testable import ApusJSON

/// Tests for the rows of the table in the decision about the JSON coder.
@Suite("Documented differences from Foundation") struct DifferenceTests {
  private struct Model: Codable, Equatable {
    var a: Int
  }

  private func outcome<Value: Decodable>(_ type: Value.Type, _ bytes: Data, _ coder: JSONCoding.Coder) -> String {
    var coding = JSONCoding.default
    coding.coder = coder
    do {
      return "\(try coding.decode(type, from: bytes))"
    } catch let error as JSONError {
      return error.reason.rawValue
    } catch DecodingError.typeMismatch {
      return "typeMismatch"
    } catch DecodingError.valueNotFound {
      return "valueNotFound"
    } catch DecodingError.dataCorrupted(let context) {
      return context.codingPath.isEmpty ? "dataCorrupted" : "dataCorrupted at a path"
    } catch {
      return "\(error)"
    }
  }

  private func expect<Value: Decodable>(_ type: Value.Type, _ text: String, _ ours: String, _ theirs: String) {
    let bytes = Data(text.utf8)
    #expect(outcome(type, bytes, .apus) == ours, "\(text)")
    #expect(outcome(type, bytes, .foundation) == theirs, "\(text)")
  }

  @Test("Some malformed texts are accepted only by Foundation")
  func accepted() throws {
    expect([Int].self, "[1,]", "unexpected byte", "[1]")
    expect([String: Int].self, #"{"a":1,}"#, "unexpected byte", #"["a": 1]"#)
    expect([String: Int?].self, #"{"a":01}"#, "malformed number", "dataCorrupted")
    expect(Model.self, #"{"a":1,"b":1.2.3}"#, "malformed number", "Model(a: 1)")
    expect(Model.self, #"{"a":1,"b":"\q"}"#, "malformed escape", "Model(a: 1)")
    expect(Model.self, #"{"a":1,"b":"\ud800"}"#, "lone surrogate", "Model(a: 1)")
    for encoding in [String.Encoding.utf16LittleEndian, .utf32LittleEndian] {
      let bytes = try #require("[1]".data(using: encoding))
      #expect(outcome([Int].self, bytes, .apus) == "invalid UTF-8")
      #expect(outcome([Int].self, bytes, .foundation) == "[1]")
    }
    let marks = String(repeating: "\u{301}", count: 129)
    #expect(outcome([String: Int].self, Data("{\"a\(marks)\":1}".utf8), .apus) == "too many combining marks in a name")
    #expect(try JSONDecoder().decode([String: Int].self, from: Data("{\"a\(marks)\":1}".utf8)).count == 1)
  }

  @Test("Decoding a malformed text throws a JSONError, whereas Foundation throws a DecodingError")
  func malformed() {
    for text in ["", "[1", "{]", "nul"] {
      #expect(throws: JSONError.self) { try JSONCoding.default.decode([Int].self, from: Data(text.utf8)) }
      #expect(throws: DecodingError.self) { try JSONDecoder().decode([Int].self, from: Data(text.utf8)) }
    }
  }

  @Test("The last of several members with the same name is decoded, whereas Foundation decodes the first in models")
  func duplicates() {
    expect(Model.self, #"{"a":1,"a":2}"#, "Model(a: 2)", "Model(a: 1)")
  }

  @Test("Results for numbers that are too small, too large or out of range differ from Foundation's results")
  func numbers() {
    expect([Double].self, "[1e-400]", "[0.0]", "dataCorrupted")
    expect([Float].self, "[1e-60]", "[0.0]", "dataCorrupted")
    expect([Double].self, "[1e400]", "dataCorrupted at a path", "dataCorrupted")
    expect([JSONNumber].self, "[1e400]", "[1e400]", "dataCorrupted")
    expect([Int8].self, "[300]", "dataCorrupted at a path", "dataCorrupted")
  }

  @Test("A null instead of a Boolean throws valueNotFound")
  func booleans() {
    expect([Bool].self, "[null]", "valueNotFound", "typeMismatch")
    expect([Int].self, "[null]", "valueNotFound", "valueNotFound")
  }

  @Test("Models may be nested 128 levels, whereas Foundation permits 512 levels")
  func depth() {
    func nested(_ count: Int) -> Data {
      Data((String(repeating: "[", count: count) + String(repeating: "]", count: count)).utf8)
    }
    struct Nested: Decodable {
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { _ = try container.decode(Nested.self) }
      }
    }
    for coder in [JSONCoding.Coder.apus, .foundation] {
      // With the address sanitizer frames are larger, so fewer levels fit.
      #expect(outcome(Nested.self, nested(isSanitized ? 32 : 128), coder) == "Nested()")
    }
    #expect(outcome(Nested.self, nested(129), .apus) == "nested too deeply")
    #expect(outcome(Nested.self, nested(129), .foundation) == "Nested()")
    #expect(outcome(JSONValue.self, nested(512), .apus).count == 1024)
    #expect(outcome(JSONValue.self, nested(513), .apus) == "nested too deeply")
  }

  @Test("`allKeys` of an object are in the order of the text")
  func keyOrder() throws {
    struct Keys: Decodable {
      var names: [String]
      init(from decoder: any Decoder) throws {
        names = try decoder.container(keyedBy: JSONKey.self).allKeys.map(\.stringValue)
      }
    }
    let text = Data(#"{"z":1,"b":2,"y":3,"a":4,"x":5,"c":6}"#.utf8)
    #expect(try JSONCoding.default.decode(Keys.self, from: text).names == ["z", "b", "y", "a", "x", "c"])
  }

  @Test("A decoding error's underlying error is a JSONLocation, which contains the error of a custom format")
  func underlyingErrors() {
    let error = #expect(throws: DecodingError.self) {
      try JSONCoding.default.decode([Date].self, from: Data(#"["x"]"#.utf8))
    }
    guard case .dataCorrupted(let context)? = error else { return #expect(Bool(false)) }
    #expect((context.underlyingError as? JSONLocation)?.cause is ISO8601.Malformed)
  }
}
