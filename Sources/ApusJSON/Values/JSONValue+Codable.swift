// Conformance for coders outside of this module. They do not report the type of the next value, so decoding tries one
// type after the other. In some coders the time of a failed attempt grows with the nesting, so the depth is limited.
extension JSONValue: Codable {
  /// The maximum nesting depth for decoding and encoding with coders other than ``JSONCoding/Coder/apus``: 64 levels.
  ///
  /// ``init(parsing:limits:)`` and ``utf8()`` support deeper values.
  package static let maximumCodableDepth = 64

  /// Decodes any value.
  ///
  /// With coders other than ``JSONCoding/Coder/apus``, 64-bit integers are exact and other numbers become the nearest
  /// `Double`. ``JSONCoding/Coder/apus`` and ``init(parsing:limits:)`` preserve all digits and are faster.
  ///
  /// - Throws: `DecodingError` for a value that JSON cannot represent, or a value nested more than
  ///   64 levels.
  public init(from decoder: any Decoder) throws {
    if let scalar = try Self.scalar(in: decoder) {
      self = scalar
    } else if try Self.isArray(decoder) {
      self = .array(try decoder.singleValueContainer().decode([JSONValue].self))
    } else {
      self = .object(try decoder.singleValueContainer().decode([String: JSONValue].self))
    }
  }

  private static func scalar(in decoder: any Decoder) throws -> JSONValue? {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() { return .null }
    if let value = try? container.decode(Bool.self) { return .bool(value) }
    if let value = JSONNumber(in: container) { return .number(value) }
    return (try? container.decode(String.self)).map { .string($0) }
  }

  /// Whether a container is an array. Checked before elements are decoded, so that an array with an invalid element is
  /// not decoded as an object.
  private static func isArray(_ decoder: any Decoder) throws -> Bool {
    guard decoder.codingPath.count < maximumCodableDepth else {
      let context = DecodingError.Context(codingPath: [], debugDescription: "The value is nested too deeply.")
      throw DecodingError.dataCorrupted(context)
    }
    return (try? decoder.unkeyedContainer()) != nil
  }

  /// Encodes the value.
  ///
  /// With coders other than ``JSONCoding/Coder/apus``, 64-bit integers are exact and other numbers become the nearest
  /// `Double`. ``JSONCoding/Coder/apus`` and ``utf8()`` preserve all digits.
  ///
  /// - Throws: `EncodingError` for a number out of the range of `Double`, or a value nested more than
  ///   64 levels.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .null, .bool, .number, .string: try encodeScalar(to: encoder)
    case .array(let value):
      try checkDepth(of: encoder)
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .object(let value):
      try checkDepth(of: encoder)
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  private func encodeScalar(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null, .array, .object: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    }
  }

  private func checkDepth(of encoder: any Encoder) throws {
    guard encoder.codingPath.count < Self.maximumCodableDepth else {
      let context = EncodingError.Context(codingPath: [], debugDescription: "The value is nested too deeply.")
      throw EncodingError.invalidValue(self, context)
    }
  }
}

extension JSONNumber: Codable {
  /// Decodes a number.
  ///
  /// With coders other than ``JSONCoding/Coder/apus``, 64-bit integers are exact and other numbers become the nearest
  /// `Double`. ``JSONCoding/Coder/apus`` preserves all digits.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = JSONNumber(in: container) {
      self = number
    } else {
      // Throws the error of the decoder.
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

  /// Encodes the number.
  ///
  /// With coders other than ``JSONCoding/Coder/apus``, 64-bit integers are exact and other numbers become the nearest
  /// `Double`. ``JSONCoding/Coder/apus`` preserves all digits.
  ///
  /// - Throws: `EncodingError` for a number out of the range of `Double`.
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
