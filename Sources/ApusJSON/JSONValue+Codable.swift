// For coders that are not of this module. They give no way to ask what stands there, so that a value is read by
// attempts, and each that fails costs a coder time that grows with the nesting: hence the limit.
extension JSONValue: Codable {
  /// The greatest number of levels that values are decoded and encoded at by other coders: 64.
  ///
  /// ``init(parsing:limits:)`` and ``utf8()`` go deeper.
  public static let codableDepth = 64

  /// Decodes any value.
  ///
  /// Integers that 64 bits hold are exact, other numbers are the nearest `Double`. To keep all digits, and to read large
  /// content quickly, use ``init(parsing:limits:)``.
  ///
  /// - Throws: `DecodingError` for a value that is none of JSON's, or that is nested in more than ``codableDepth`` levels.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = JSONNumber(in: container) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else {
      guard decoder.codingPath.count < Self.codableDepth else {
        let context = DecodingError.Context(codingPath: [], debugDescription: "The value is nested too deeply.")
        throw DecodingError.dataCorrupted(context)
      }
      // Whether it is an array is asked before its elements are read: an array with a bad element is no object.
      if (try? decoder.unkeyedContainer()) != nil {
        self = .array(try container.decode([JSONValue].self))
      } else {
        self = .object(try container.decode([String: JSONValue].self))
      }
    }
  }

  /// Encodes the value: integers that 64 bits hold exactly, other numbers as the nearest `Double`.
  ///
  /// - Throws: `EncodingError` for a number that is larger than any `Double`, and for a value that is nested in more than
  ///   ``codableDepth`` levels.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array, .object:
      guard encoder.codingPath.count < Self.codableDepth else {
        let context = EncodingError.Context(codingPath: [], debugDescription: "The value is nested too deeply.")
        throw EncodingError.invalidValue(self, context)
      }
      if case .array(let value) = self { try container.encode(value) }
      if case .object(let value) = self { try container.encode(value) }
    }
  }
}

extension JSONNumber: Codable {
  /// Decodes a number: integers that 64 bits hold exactly, other numbers as the nearest `Double`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = JSONNumber(in: container) {
      self = number
    } else {
      // Says what is wrong in the decoder's words.
      _ = try container.decode(Double.self)
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "The number is not finite.")
    }
  }

  fileprivate init?(in container: any SingleValueDecodingContainer) {
    guard let value = try? container.decode(Double.self) else { return nil }
    if value.magnitude < 0x1p53 {
      self.init(value)
    } else if let integer = try? container.decode(Int64.self) {
      self.init(integer)
    } else if let integer = try? container.decode(UInt64.self) {
      self.init(integer)
    } else {
      self.init(value)
    }
  }

  /// Encodes the number: integers that 64 bits hold exactly, other numbers as the nearest `Double`.
  ///
  /// - Throws: `EncodingError` for a number that is larger than any `Double`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let integer = int64 {
      try container.encode(integer)
    } else if let integer = uint64 {
      try container.encode(integer)
    } else if double.isFinite {
      try container.encode(double)
    } else {
      let context = EncodingError.Context(
        codingPath: encoder.codingPath, debugDescription: "The number is larger than any Double.")
      throw EncodingError.invalidValue(self, context)
    }
  }
}
