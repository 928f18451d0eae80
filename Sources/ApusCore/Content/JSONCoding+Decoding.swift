import ApusJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The limits of decoding: the content limit bounds the size. The check below bounds the nesting, because a recursive
// model would overflow a small stack, and the time to create Foundation's errors grows with the square of the depth.
// The time itself is not limited, because a decoder cannot be stopped: a call whose deadline passes while it decodes
// ends after decoding.
extension JSONCoding {
  /// Decodes a value: `JSONValue` types with this package's parser, models with Foundation's decoder.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    if Self.isAnyJSON(type) { return try Self.value(of: JSONValue(parsing: data), as: type) }
    try JSONNesting.check(data)
    return try decoder.decode(type, from: data)
  }

  /// Decodes the value at a key path.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at keys: [String]) throws -> Value {
    guard Self.isAnyJSON(type) else {
      try JSONNesting.check(data)
      return try decoder.decode(NestedValue<Value>.self, from: data, configuration: keys).value
    }
    var value = try JSONValue(parsing: data)
    var path: [AnyKey] = []
    for key in keys {
      guard let members = value.object else { throw Self.mismatch([String: Any].self, at: path) }
      path.append(AnyKey(key))
      guard let member = member(key, in: members) else {
        let context = DecodingError.Context(codingPath: path.dropLast(), debugDescription: "The key is missing.")
        throw DecodingError.keyNotFound(AnyKey(key), context)
      }
      value = member
    }
    return try Self.value(of: value, as: type, at: path)
  }

  /// Encodes a value: `JSONValue` types with this package's writer, models with Foundation's encoder.
  func encode<Value: Encodable>(_ value: Value) throws -> Data {
    guard Self.isAnyJSON(Value.self) else { return try encoder.encode(value) }
    let json: JSONValue =
      switch value as Any {
      case let value as JSONValue: value
      case let value as [JSONValue]: .array(value)
      case let value as [String: JSONValue]: .object(value)
      default: .null
      }
    return Data(json.utf8())
  }

  /// Returns the member with a name, as written or in camel case.
  func member(_ name: String, in members: [String: JSONValue]) -> JSONValue? {
    if keys == .unchanged { return members[name] ?? members[name.camelCased] }
    return members.first { $0.key.camelCased == name }?.value
      ?? members.first { $0.key.camelCased == name.camelCased }?.value
  }

  /// Whether ``member(_:in:)`` may return the member with this key.
  func isMember(_ key: String, _ name: String) -> Bool {
    let key = keys == .unchanged ? key : key.camelCased
    return key == name || key == name.camelCased
  }

  /// Whether a type is `JSONValue` or a container of it, which is read without Foundation's decoder.
  static func isAnyJSON<Value>(_ type: Value.Type) -> Bool {
    type == JSONValue.self || type == JSONValue?.self || type == [JSONValue].self || type == [String: JSONValue].self
  }

  /// Converts JSON to a type for which ``isAnyJSON(_:)`` is true.
  static func value<Value>(of json: JSONValue, as type: Value.Type, at path: [AnyKey] = []) throws -> Value {
    let value: Any
    if type == [JSONValue].self {
      value = json.array as Any
    } else if type == [String: JSONValue].self {
      value = json.object as Any
    } else if type == JSONValue?.self {
      value = (json == .null ? nil : json) as Any
    } else {
      value = json
    }
    guard let value = value as? Value else { throw mismatch(type, at: path) }
    return value
  }

  private static func mismatch(_ type: Any.Type, at path: [AnyKey]) -> DecodingError {
    .typeMismatch(type, DecodingError.Context(codingPath: path, debugDescription: "The value has another type."))
  }
}

/// A check of JSON before Foundation's decoder reads it. One pass over the bytes, without allocations.
enum JSONNesting {
  /// The maximum nesting of arrays and objects in content that is decoded into models.
  static let limit = 128
  /// The number of consecutive characters that may be combining marks from which member names are checked by the
  /// parser.
  private static let marks = 1024

  /// - Throws: ``JSONError``.
  static func check(_ data: Data) throws {
    let isWorthParsing = try data.withUnsafeBytes { bytes in
      // Foundation also reads UTF-16 and UTF-32, in which brackets and quotation marks look different (RFC 8259 §8.1).
      if bytes.prefix(4).contains(0) || bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
        throw JSONError(.invalidUTF8, at: 0)
      }
      return try bytes.count > limit && hasLongRun(bytes)
    }
    if isWorthParsing { _ = try JSONValue(parsing: data, keeping: { _ in false }) }
  }

  /// Checks the nesting. Returns whether a string may contain a very long run of combining marks.
  private static func hasLongRun(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> Bool {
    var (index, depth, run) = (0, 0, 0)
    var (isString, hasLongRun) = (false, false)
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if isString {
        if byte >= 0x80 {
          run += 1
        } else if byte == UInt8(ascii: "\\") {
          let isUnicode = index < bytes.count && bytes[index] == UInt8(ascii: "u")
          run = isUnicode ? run + 1 : 0
          index += isUnicode ? 5 : 1
        } else {
          run = 0
          if byte == UInt8(ascii: "\"") { isString = false }
        }
        if run > marks { hasLongRun = true }
      } else if byte == UInt8(ascii: "\"") {
        isString = true
      } else if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") {
        depth += 1
        if depth > limit { throw JSONError(.tooDeep, at: index - 1) }
      } else if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
        depth -= 1
      }
    }
    return hasLongRun
  }
}

/// The value at a key path.
struct NestedValue<Value: Decodable>: DecodableWithConfiguration {
  let value: Value

  init(from decoder: any Decoder, configuration keys: [String]) throws {
    guard let first = keys.first else {
      value = try Value(from: decoder)
      return
    }
    var container = try decoder.container(keyedBy: AnyKey.self)
    var key = container.key(first)
    for next in keys.dropFirst() {
      container = try container.nestedContainer(keyedBy: AnyKey.self, forKey: key)
      key = container.key(next)
    }
    value = try container.decode(Value.self, forKey: key)
  }
}

/// A coding key that is known only at run time.
struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<AnyKey> {
  /// Returns the key as written or, if missing, in camel case, to which a snake-case coding converts keys.
  func key(_ name: String) -> AnyKey {
    let plain = AnyKey(name)
    if contains(plain) { return plain }
    let camel = AnyKey(name.camelCased)
    return contains(camel) ? camel : plain
  }
}

extension String {
  /// The key to which `JSONDecoder` converts a snake-case key. Leading and trailing underscores are kept.
  var camelCased: String {
    let start = prefix { $0 == "_" }
    let end = dropFirst(start.count).reversed().prefix { $0 == "_" }
    let words = split(separator: "_")
    guard words.count > 1, let first = words.first else { return self }
    return start + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + String(end)
  }
}

extension Substring {
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst().lowercased() }
}
