import ApusJSON
import Foundation
import Testing

@Suite("Models on a small stack")
struct ModelStackTests {
  /// A kind of nesting of values.
  enum Nesting: CaseIterable, Sendable {
    case objects, arraysInObjects, dictionaries, arrays, enums, readable

    /// Returns a text with a number of levels.
    func text(_ levels: Int) -> Data {
      let (open, inner, close) =
        switch self {
        case .objects: (#"{"c":"#, #"{}"#, "}")
        case .arraysInObjects, .readable: (#"{"c":["#, #"{"c":[]}"#, "]}")
        case .dictionaries: (#"{"c":{"k":"#, #"{"c":{}}"#, "}}")
        case .arrays: ("[", "[]", "]")
        case .enums: (#"{"node":{"_0":"#, #"{"leaf":{}}"#, "}}")
        }
      let (count, rest) = (levels - inner.filter { "{[".contains($0) }.count).quotientAndRemainder(
        dividingBy: open.filter { "{[".contains($0) }.count)
      // A level that this kind of nesting cannot produce is an additional array around the value.
      let text = String(repeating: open, count: count) + inner + String(repeating: close, count: count)
      return Data(rest == 0 ? text.utf8 : "[\(text)]".utf8)
    }

    /// Decodes a text and encodes the value. The text has an array around it if its number of levels is odd.
    func decodedAndEncoded(_ text: Data) throws -> Data {
      switch self {
      case .objects: try Self.again(Linked.self, text)
      case .arraysInObjects: try Self.again(Listed.self, text)
      case .dictionaries: try Self.again(Mapped.self, text)
      case .arrays: try Self.again(Unkeyed.self, text)
      case .enums: try Self.again(Tree.self, text)
      case .readable: try Self.again(Readable.self, text)
      }
    }

    private static func again<Value: Codable>(_ type: Value.Type, _ text: Data) throws -> Data {
      let coding = JSONCoding.default
      if text.first == UInt8(ascii: "["), type != Unkeyed.self {
        return try coding.encode(coding.decode([Value].self, from: text))
      }
      return try coding.encode(coding.decode(type, from: text))
    }
  }

  private final class Linked: Codable {
    var a: String?
    var c: Linked?
  }
  private struct Listed: Codable { var c: [Listed] }
  private struct Mapped: Codable { var c: [String: Mapped] }
  private indirect enum Tree: Codable {
    case leaf
    case node(Tree)
  }
  private struct Unkeyed: Codable {
    var items: [Unkeyed] = []
    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      while !container.isAtEnd { items.append(try container.decode(Unkeyed.self)) }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      for item in items { try container.encode(item) }
    }
  }
  private struct Readable: Codable, JSONReadable, JSONWritable {
    var c: [Readable]
    init(from reader: inout JSONReader) throws {
      var c: [Readable]?
      try reader.beginObject()
      while try reader.nextMember() {
        if reader.isAt("c") { try reader.read(into: &c) } else { try reader.skip() }
      }
      self.c = try reader.require(c, "c")
    }
    func write(to writer: inout JSONWriter) throws {
      writer.beginObject()
      try writer.write(c, as: "c")
      writer.endObject()
    }
  }

  @Test(
    "Models of the maximum depth are decoded and encoded on the smallest supported stack, and on half of this size",
    arguments: Nesting.allCases, smallStacks)
  func deepest(nesting: Nesting, stack: Int) throws {
    let text = nesting.text(128)
    let written = onSmallStack(bytes: stack) { try? nesting.decodedAndEncoded(text) }
    // Frames are several times as large with the address sanitizer, so fewer levels fit.
    if !isSanitized { #expect(written == text) }
  }

  @Test("Models nested one level deeper than the maximum are refused", arguments: Nesting.allCases)
  func deeper(nesting: Nesting) {
    for levels in [129, 130, 512] {
      let text = nesting.text(levels)
      let reason = onSmallStack(bytes: smallStacks[0]) { () -> JSONError.Reason? in
        do {
          _ = try nesting.decodedAndEncoded(text)
          return nil
        } catch {
          return (error as? JSONError)?.reason
        }
      }
      #expect(reason == .tooDeep, "\(levels) levels")
    }
  }

  // MARK: Large frames

  /// Calls a function from frames of more than 10 KB, as models with hundreds of properties have.
  @inline(never) private static func far<Output>(_ count: Int = 60, _ body: () throws -> Output) rethrows -> Output {
    if count == 0 { return try body() }
    let output = try far(count - 1, body)
    return output
  }

  @inline(never) private static func far(_ reader: inout JSONReader, _ count: Int = 60) throws -> LargeReadable? {
    if count > 0 {
      let value = try far(&reader, count - 1)
      return value
    }
    var next: LargeReadable?
    try reader.readIfPresent(into: &next)
    return next
  }

  @inline(never)
  private static func far(_ writer: inout JSONWriter, _ value: LargeReadable?, _ count: Int = 60) throws {
    if count > 0 { return try far(&writer, value, count - 1) }
    try writer.write(value, as: "c")
  }

  private final class Large: Codable {
    enum CodingKeys: CodingKey { case c }
    var c: Large?
    init(_ c: Large?) { self.c = c }
    init(from decoder: any Decoder) throws {
      c = try ModelStackTests.far {
        try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Large.self, forKey: .c)
      }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try ModelStackTests.far { try container.encodeIfPresent(c, forKey: .c) }
    }
  }

  private final class LargeReadable: Codable, JSONReadable, JSONWritable {
    var c: LargeReadable?
    init(_ c: LargeReadable?) { self.c = c }
    init(from reader: inout JSONReader) throws {
      try reader.beginObject()
      while try reader.nextMember() { c = try ModelStackTests.far(&reader) }
    }
    func write(to writer: inout JSONWriter) throws {
      writer.beginObject()
      try ModelStackTests.far(&writer, c)
      writer.endObject()
    }
  }

  /// A type that reads itself, but decodes the next level.
  private final class Mixed: Codable, JSONReadable {
    final class Inner: Codable { var c: Mixed? }
    var c: Inner?
    init(from reader: inout JSONReader) throws {
      try reader.beginObject()
      while try reader.nextMember() { try reader.readIfPresent(into: &c) }
    }
  }

  @Test("Models with large frames are refused before they use more than half of the stack")
  func largeFrames() throws {
    func refusal<Value: Decodable & SendableMetatype>(_ type: Value.Type, levels: Int) -> JSONError.Reason? {
      let text = Nesting.objects.text(levels)
      return onSmallStack(bytes: smallStacks[0]) { () -> JSONError.Reason? in
        do {
          _ = try JSONCoding.default.decode(Value.self, from: text)
          return nil
        } catch {
          return (error as? JSONError)?.reason
        }
      } ?? nil
    }
    #expect(refusal(Large.self, levels: 128) == .tooDeep)
    #expect(refusal(LargeReadable.self, levels: 128) == .tooDeep)
    #expect(refusal(Large.self, levels: 12) == nil || isSanitized)
    #expect(refusal(LargeReadable.self, levels: 12) == nil || isSanitized)
    // The result depends on the frame size; the test is that the stack does not overflow.
    _ = refusal(Mixed.self, levels: 128)
    #expect(refusal(Mixed.self, levels: 60) == nil || isSanitized)
  }

  @Test("Encoding a value that is nested too deeply throws an EncodingError")
  func encoding() throws {
    func error(_ encode: @escaping @Sendable () throws -> Data) -> String? {
      onSmallStack(bytes: smallStacks[0]) { () -> String? in
        do {
          _ = try encode()
          return nil
        } catch EncodingError.invalidValue(_, let context) {
          return context.debugDescription
        } catch {
          return "\(error)"
        }
      } ?? nil
    }
    let reason = "The value is nested too deeply."
    let encodesDeep = { @Sendable () throws -> Data in
      let value = (0..<5000).reduce(nil as Large?) { inner, _ in Large(inner) }
      defer {
        Self.unlink(value) { value in
          defer { value.c = nil }
          return value.c
        }
      }
      return try JSONCoding.default.encode(value)
    }
    #expect(error(encodesDeep) == reason)
    let writesDeep = { @Sendable () throws -> Data in
      let value = (0..<5000).reduce(nil as LargeReadable?) { inner, _ in LargeReadable(inner) }
      defer {
        Self.unlink(value) { value in
          defer { value.c = nil }
          return value.c
        }
      }
      return try JSONCoding.default.encode(value)
    }
    #expect(error(writesDeep) == reason)
    let writes = { @Sendable () throws -> Data in try JSONCoding.default.encode(LargeReadable(LargeReadable(nil))) }
    #expect(error(writes) == nil)
  }

  /// Releases a chain of values one after the other, because Swift would release the chain recursively.
  private static func unlink<Value: AnyObject>(_ value: Value?, _ next: (Value) -> Value?) {
    var value = value
    while let present = value { value = next(present) }
  }

  @Test("A stored decoder can be used on another thread")
  func kept() throws {
    final class Keeping: Decodable {
      let decoder: any Decoder
      init(from decoder: any Decoder) throws { self.decoder = decoder }
    }
    let text = Data((String(repeating: "[", count: 11) + "7" + String(repeating: "]", count: 11)).utf8)
    let values = try JSONCoding.default.decode([[[[[[[[[[Keeping]]]]]]]]]].self, from: text)
    nonisolated(unsafe) let decoder = values[0][0][0][0][0][0][0][0][0][0].decoder
    let number = onSmallStack(bytes: smallStacks[0]) { try? [Int](from: decoder) }
    #expect(number == [7])
  }
}
