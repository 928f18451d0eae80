import ApusJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What bounds decoding: the size of content is limited before it is here; nesting by the check below, without which a
// recursive model overflows a small stack, and the time of Foundation's errors grows with the square of the depth; time
// by nothing else, since a decoder cannot be stopped. A call whose deadline passes meanwhile ends when it is done.
extension JSONCoding {
  /// Decodes a value: any JSON by the parser of this package, models by Foundation's decoder.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    if Self.isAnyJSON(type) { return try Self.value(of: JSONValue(parsing: data), as: type) }
    try JSONNesting.check(data)
    return try decoder.decode(type, from: data)
  }

  /// Decodes the value at a path of keys.
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

  /// Encodes a value: any JSON by the writer of this package, models by Foundation's encoder.
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

  /// The member with a name, as written or in the form that snake case gives it.
  func member(_ name: String, in members: [String: JSONValue]) -> JSONValue? {
    if keys == .asWritten { return members[name] ?? members[name.camelCased] }
    return members.first { $0.key.camelCased == name }?.value
      ?? members.first { $0.key.camelCased == name.camelCased }?.value
  }

  /// Whether a member may be the one with a name.
  func isMember(_ key: String, _ name: String) -> Bool {
    let key = keys == .asWritten ? key : key.camelCased
    return key == name || key == name.camelCased
  }

  /// Whether values of a type are any JSON, which is read without Foundation's decoder.
  static func isAnyJSON<Value>(_ type: Value.Type) -> Bool {
    type == JSONValue.self || type == JSONValue?.self || type == [JSONValue].self || type == [String: JSONValue].self
  }

  /// Any JSON as a value of a type of which ``isAnyJSON(_:)`` is true.
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

/// The check of JSON that Foundation's decoder will read: one pass over the bytes, which keeps nothing of them.
enum JSONNesting {
  /// The most arrays and objects inside each other in content that is decoded into models.
  static let limit = 128
  /// From how many characters in a row that may be combining marks the names of members are looked at.
  private static let marks = 1024

  /// - Throws: ``JSONError``.
  static func check(_ data: Data) throws {
    let isWorthParsing = try data.withUnsafeBytes { bytes in
      // Foundation reads other encodings, too, in which brackets and quotation marks look different (RFC 8259 §8.1).
      if bytes.prefix(4).contains(0) || bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
        throw JSONError(.invalidUTF8, at: 0)
      }
      return try bytes.count > limit && hasLongRun(bytes)
    }
    if isWorthParsing { _ = try JSONValue(parsing: data, keeping: { _ in false }) }
  }

  /// Checks the nesting; also tells whether some string may hold very many combining marks in a row.
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

/// A value that stands below a path of keys.
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

/// A key that is known only at run time.
struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<AnyKey> {
  /// The key as written, or in the form that a snake-case coding gives it.
  func key(_ name: String) -> AnyKey {
    let plain = AnyKey(name)
    if contains(plain) { return plain }
    let camel = AnyKey(name.camelCased)
    return contains(camel) ? camel : plain
  }
}

extension String {
  /// What `JSONDecoder` makes of a key in snake case; underscores at both ends stay.
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
