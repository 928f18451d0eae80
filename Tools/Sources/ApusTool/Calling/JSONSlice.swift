import Apus

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value in a JSON text, with its original bytes: numbers, strings and the order of members stay as the server wrote
/// them.
struct JSONSlice: Sendable {
  private let bytes: ArraySlice<UInt8>

  /// Validates a JSON text (RFC 8259).
  ///
  /// - Throws: `JSONError`
  init(parsing content: Data) throws(JSONError) {
    _ = try JSONValue(parsing: content)
    let text = [UInt8](content)
    bytes = text[...].drop { !Self.beginsValue($0) }
  }

  private init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  /// The parsed value.
  var value: JSONValue? { try? JSONValue(parsing: bytes) }

  /// The elements of an array; `nil` for other values.
  var elements: [JSONSlice]? {
    guard bytes.first == UInt8(ascii: "[") else { return nil }
    var (elements, cursor) = ([JSONSlice](), Cursor(bytes))
    while let element = cursor.nextValue() { elements.append(JSONSlice(element)) }
    return elements
  }

  /// Returns the value at a path of member names and array indices; `nil` if there is none.
  func at(_ path: some Sequence<String>) -> JSONSlice? {
    var place: JSONSlice? = self
    for key in path { place = place?.child(key) }
    return place
  }

  private func child(_ key: String) -> JSONSlice? {
    if let elements {
      guard let index = Int(key), elements.indices.contains(index) else { return nil }
      return elements[index]
    }
    guard bytes.first == UInt8(ascii: "{") else { return nil }
    var (found, cursor) = (nil as JSONSlice?, Cursor(bytes))
    while let name = cursor.nextValue(), let value = cursor.nextValue() {
      // If several members have the same name, the last member is used, as by `JSONValue`.
      if JSONSlice(name).value?.string == key { found = JSONSlice(value) }
    }
    return found
  }

  /// The value on one line, without white space.
  var line: [UInt8] {
    var (line, isText, isEscaped) = ([UInt8](), false, false)
    line.reserveCapacity(bytes.count + 1)
    for byte in bytes {
      if isText {
        line.append(byte)
        if !isEscaped, byte == UInt8(ascii: "\"") { isText = false }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      } else if !Self.isSpace(byte) {
        line.append(byte)
        isText = byte == UInt8(ascii: "\"")
      }
    }
    return line
  }

  fileprivate static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  /// Whether a byte begins a value. White space and a byte order mark do not.
  private static func beginsValue(_ byte: UInt8) -> Bool { byte < 0x80 && !isSpace(byte) }
}

/// A cursor over the values in an array, or over the names and values in an object, of a valid JSON text.
private struct Cursor {
  private var rest: ArraySlice<UInt8>

  /// - Parameter container: the array or object.
  init(_ container: ArraySlice<UInt8>) {
    rest = container.dropFirst()
  }

  /// Returns the next value or name; `nil` at the end.
  mutating func nextValue() -> ArraySlice<UInt8>? {
    rest = rest.drop { JSONSlice.isSpace($0) || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ":") }
    guard let first = rest.first, first != UInt8(ascii: "]"), first != UInt8(ascii: "}") else { return nil }
    let end: Int
    switch first {
    case UInt8(ascii: "\""): end = endOfText(from: rest.startIndex)
    case UInt8(ascii: "["), UInt8(ascii: "{"): end = endOfContainer()
    default: end = rest.firstIndex { JSONSlice.isSpace($0) || ",]}".utf8.contains($0) } ?? rest.endIndex
    }
    defer { rest = rest[end...] }
    return rest[..<end]
  }

  private func endOfText(from start: Int) -> Int {
    var index = start + 1
    while index < rest.endIndex, rest[index] != UInt8(ascii: "\"") {
      index += rest[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, rest.endIndex)
  }

  private func endOfContainer() -> Int {
    var (depth, index) = (0, rest.startIndex)
    repeat {
      switch rest[index] {
      case UInt8(ascii: "\""):
        index = endOfText(from: index)
        continue
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
      index += 1
    } while depth > 0 && index < rest.endIndex
    return index
  }
}
