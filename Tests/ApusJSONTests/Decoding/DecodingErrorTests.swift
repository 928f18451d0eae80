import Foundation
import TestSupport
import Testing

@testable import ApusJSON

@Suite("Decoding errors") struct DecodingErrorTests {
  private struct Page: Decodable {
    struct Item: Decodable {
      var title: String
      var size: Int8?
    }
    var items: [Item]
    var byName: [String: [Item]]?
  }

  private func failure(_ text: String, _ coding: JSONCoding = .default) -> DecodingError.Context? {
    do {
      _ = try coding.decode(Page.self, from: Data(text.utf8))
      return nil
    } catch DecodingError.keyNotFound(let key, let context) {
      return .init(
        codingPath: context.codingPath + [key], debugDescription: context.debugDescription,
        underlyingError: context.underlyingError)
    } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
      return context
    } catch DecodingError.dataCorrupted(let context) {
      return context
    } catch {
      return nil
    }
  }

  private func path(_ context: DecodingError.Context?) -> [String]? { context?.codingPath.map(\.stringValue) }

  @Test(
    "A decoding error has the coding path, the line, the column and the byte",
    arguments: [
      (#"{"items":[{"title":"a"},{"title":5}]}"#, ["items", "Index 1", "title"], 1, 34),
      ("{\n  \"items\": [\n    {\"title\": null}]}", ["items", "Index 0", "title"], 3, 15),
      (#"{"items":[{"title":"a","size":300}]}"#, ["items", "Index 0", "size"], 1, 31),
      (#"{"items":[],"byName":{"x":[],"y":[{"title":"a"},{}]}}"#, ["byName", "y", "Index 1", "title"], 1, 49),
      (#"{"items":{"a":[1]}}"#, ["items"], 1, 10), ("[[]]", [], 1, 1), ("\u{FEFF}7", [], 1, 4),
    ] as [(String, [String], Int, Int)])
  func places(text: String, expected: [String], line: Int, column: Int) throws {
    let context = try #require(failure(text))
    #expect(path(context) == expected)
    let location = try #require(context.underlyingError as? JSONLocation)
    #expect(location.line == line && location.column == column, "\(location)")
    #expect(context.debugDescription.hasSuffix("(\(location))."))
  }

  @Test("The coding path has the model's names, not the names in snake case")
  func snakeCase() {
    let error = failure(#"{"items":[],"by_name":{"x_y":[{"title":1}]}}"#, .snakeCase)
    #expect(path(error) == ["byName", "xY", "Index 0", "title"])
  }

  @Test("A coding path distinguishes enum cases, which are in source code, from dictionary keys")
  func origins() throws {
    let keys = try #require(failure(#"{"items":[],"byName":{"secret":[{"title":1}]}}"#)).codingPath
    #expect(keys.compactMap { ($0 as? JSONKey)?.isWrittenInSource } == [true, false, false, true])
  }

  @Test("A failed decoding attempt has no effect on the next attempt")
  func attempts() throws {
    struct Lenient: Decodable, Equatable {
      var numbers: [Int] = []
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
          if let number = try? container.decode(Int.self) {
            numbers.append(number)
          } else {
            // The failed attempt did not skip the element.
            _ = try container.decode(String.self)
          }
        }
      }
    }
    #expect(try JSONCoding.default.decode(Lenient.self, from: Data(#"[1,"a",2,"b"]"#.utf8)).numbers == [1, 2])
    expectAgreement([Flexible].self, #"[[1],"a",[["b",{}]]]"#.utf8)
  }

  @Test("Errors of many elements take time in proportion to their number")
  func manyErrors() throws {
    struct Element: Decodable {
      var isNumber: Bool
      init(from decoder: any Decoder) throws {
        isNumber = (try? decoder.singleValueContainer().decode(Int.self)) != nil
        _ = try? decoder.container(keyedBy: JSONKey.self)
      }
    }
    func time(_ count: Int) throws -> Double {
      let array = Data("[\(Array(repeating: #""x""#, count: count).joined(separator: ","))]".utf8)
      let members = (0..<count).map { "\"k\($0)\":\"x\"" }.joined(separator: ",")
      let object = Data("{\(members)}".utf8)
      var elements: [Element] = []
      let duration = try LinearTime.time {
        elements = try JSONCoding.default.decode([Element].self, from: array)
        elements += try JSONCoding.default.decode([String: Element].self, from: object).values
      }
      #expect(elements.count == 2 * count && elements.allSatisfy { !$0.isNumber })
      return duration
    }
    // If each error were located from the start, 16 times as many errors would take 256 times as long.
    let small = try (0..<5).map { _ in try time(500) }.min() ?? 0
    let large = try (0..<3).map { _ in try time(8000) }.min() ?? 0
    #expect(large < small * 100)
  }

  @Test("Errors in a separately decoded part of a text have locations in the whole text")
  func parts() throws {
    struct Nested: Decodable {
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { _ = try container.decode(Nested.self) }
      }
    }
    struct Whole: JSONReadable, Decodable {
      init(from reader: inout JSONReader) throws {
        try reader.beginObject()
        while try reader.nextMember() { _ = try reader.decode(Nested.self) }
      }
      init(from decoder: any Decoder) throws {
        _ = try decoder.container(keyedBy: JSONKey.self).decode(Nested.self, forKey: JSONKey("a"))
      }
    }
    let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
    let text = Data((#"{"a": "# + deep + "}").utf8)
    let read = #expect(throws: JSONError.self) { try JSONCoding.default.decode(Whole.self, from: text) }
    let decoded = #expect(throws: JSONError.self) { try JSONCoding.default.decode([String: Nested].self, from: text) }
    // With the address sanitizer frames are larger, so fewer levels fit.
    #expect(isSanitized || (read == decoded && read == JSONError(.tooDeep, at: 6 + 127)))
  }

  @Test("Decoding with a metatype of a superclass decodes the dynamic subclass, as with Foundation")
  func dynamicTypes() throws {
    class Animal: Decodable {}
    final class Dog: Animal {}
    struct Kept: Decodable {
      let animals: [Animal]
      init(from decoder: any Decoder) throws {
        let dog: Animal.Type = Dog.self
        let container = try decoder.container(keyedBy: JSONKey.self)
        var elements = try container.nestedUnkeyedContainer(forKey: JSONKey("b"))
        animals = [try elements.decode(dog)]
      }
    }
    for coder in [JSONCoding.Coder.apus, .foundation] {
      var coding = JSONCoding.default
      coding.coder = coder
      let kept = try coding.decode(Kept.self, from: Data(#"{"b":[{}]}"#.utf8))
      let dog: Animal.Type = Dog.self
      #expect(try kept.animals.first is Dog && coding.decode(dog, from: Data("{}".utf8)) is Dog, "\(coder)")
    }
  }

  @Test("Containers and decoders can be used after the decoding that created them")
  func escaped() throws {
    final class Kept: Decodable {
      let container: KeyedDecodingContainer<JSONKey>
      let decoder: any Decoder
      init(from decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: JSONKey.self)
        self.decoder = decoder
      }
    }
    let kept = try JSONCoding.default.decode([Kept].self, from: Data(#"[{"a":[1,2],"b":"c"}]"#.utf8))[0]
    #expect(try kept.container.decode([Int].self, forKey: JSONKey("a")) == [1, 2])
    #expect(try kept.container.decode(String.self, forKey: JSONKey("b")) == "c")
    #expect(kept.container.codingPath.map(\.intValue) == [0])
    #expect(try kept.decoder.container(keyedBy: JSONKey.self).allKeys.map(\.stringValue) == ["a", "b"])
  }

  @Test("Decoding beyond the end of an array throws an error with the index")
  func end() {
    struct Three: Decodable {
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        #expect(container.count == 2)
        for _ in 0..<3 { _ = try container.decode(Int.self) }
      }
    }
    let error = #expect(throws: DecodingError.self) {
      try JSONCoding.default.decode(Three.self, from: Data("[1,2]".utf8))
    }
    guard case .valueNotFound(_, let context) = error else { return #expect(Bool(false)) }
    #expect(context.codingPath.map(\.intValue) == [2])
  }

  @Test("Types can read the coding's `userInfo`")
  func userInfo() throws {
    struct Reader: Decodable {
      var value: Int?
      init(from decoder: any Decoder) throws {
        guard let key = CodingUserInfoKey(rawValue: "k") else { return }
        value = decoder.userInfo[key] as? Int
      }
    }
    var coding = JSONCoding.default
    coding.userInfo = [try #require(CodingUserInfoKey(rawValue: "k")): 7]
    #expect(try coding.decode([Reader].self, from: Data("[{}]".utf8))[0].value == 7)
  }
}
