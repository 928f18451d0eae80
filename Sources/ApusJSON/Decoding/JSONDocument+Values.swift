extension JSONDocument {
  // MARK: Any type

  /// Decodes a value of any type.
  @inline(__always) func decode<T: Decodable>(_ type: T.Type, at position: Int, _ depth: Int) throws -> T {
    switch types[type] {
    case .ordinary, .number, .keyInSource, .otherKey:
      try type.init(from: ValueDecoder(document: self, position: position, depth: depth))
    case .string: unsafeBitCast(try string(at: position), to: type)
    case .int: unsafeBitCast(try integer(at: position), to: type)
    case .double: unsafeBitCast(try double(at: position), to: type)
    case .bool: unsafeBitCast(try bool(at: position), to: type)
    case .strings: unsafeBitCast(try strings(at: position, depth), to: type)
    case .ints: unsafeBitCast(try integers(at: position, depth), to: type)
    case .doubles: unsafeBitCast(try doubles(at: position, depth), to: type)
    case .array, .dictionary: try decodeContainer(type, at: position, depth)
    case .readable: try decodeReadable(type, at: position, depth)
    case .other: try decodeOther(type, at: position, depth)
    }
  }

  private func decodeContainer<T: Decodable>(
    _ type: T.Type, at position: Int, _ depth: Int
  ) throws -> T {
    guard let container = container(type) else {
      return try type.init(from: ValueDecoder(document: self, position: position, depth: depth))
    }
    return try container.decode(self, position, depth, as: type)
  }

  private func container(_ type: Any.Type) -> (any TapeDecodable.Type)? {
    let identifier = ObjectIdentifier(type)
    if let known = arrayTypes[identifier] { return known }
    let container = type as? any TapeDecodable.Type
    arrayTypes[identifier] = container
    return container
  }

  private func strings(at array: Int, _ depth: Int) throws -> [String] {
    try elements(at: array, depth) { try string(at: $0) }
  }

  private func integers(at array: Int, _ depth: Int) throws -> [Int] {
    try elements(at: array, depth) { try integer(at: $0) }
  }

  private func doubles(at array: Int, _ depth: Int) throws -> [Double] {
    try elements(at: array, depth) { try double(at: $0) }
  }

  /// Decodes the elements of an array.
  @inline(__always) func elements<Element>(
    at array: Int, _ depth: Int, _ decode: (Int) throws -> Element
  ) throws -> [Element] {
    let header = tape[array]
    guard header.kind == .array else { throw mismatch([Any].self, at: array) }
    try check(depth, at: array)
    // Without this check, the initializer below would write a count of 0 to the storage that the empty arrays of all
    // threads share.
    guard header.length > 0 else { return [] }
    return try [Element](unsafeUninitializedCapacity: header.length) { buffer, count in
      var position = JSONTape.start(of: array)
      while position < header.high, count < buffer.count {
        // The bookmark is used for the coding path of an error.
        tape.setBookmark(of: array, to: position, ordinal: count)
        buffer.initializeElement(at: count, to: try decode(position))
        count += 1
        position = tape.position(after: position)
      }
    }
  }

  // MARK: Scalars

  @inline(__always) func isNull(_ position: Int) -> Bool { tape[position].isNull }

  func bool(at position: Int) throws -> Bool {
    let word = tape[position]
    guard let literal = word.literal, literal != .null else { throw mismatch(Bool.self, at: position) }
    return literal == .true
  }

  func string(at position: Int) throws -> String {
    let word = tape[position]
    guard word.isString else { throw mismatch(String.self, at: position) }
    return string(word)
  }

  func integer(at position: Int) throws -> Int {
    let word = tape[position]
    if word.kind == .integer, word.length <= 18 { return Int(shortInteger(word)) }
    return try otherInteger(Int.self, at: position)
  }

  func integer<T: FixedWidthInteger>(_ type: T.Type, at position: Int) throws -> T {
    let word = tape[position]
    if word.kind == .integer, word.length <= 18, let value = T(exactly: shortInteger(word)) { return value }
    return try otherInteger(type, at: position)
  }

  /// Returns the value of an integer of at most 18 bytes.
  @inline(__always) private func shortInteger(_ word: JSONWord) -> Int64 {
    let text = tape.text(word)
    var value: Int64 = 0
    let isNegative = text[0] == UInt8(ascii: "-")
    var index = isNegative ? 1 : 0
    while index < text.count {
      value = value &* 10 &+ Int64(text[index] &- UInt8(ascii: "0"))
      index += 1
    }
    return isNegative ? -value : value
  }

  private func otherInteger<T: FixedWidthInteger>(_ type: T.Type, at position: Int) throws -> T {
    guard tape[position].isNumber else { throw mismatch(type, at: position) }
    guard let value: T = number(at: position).integer() else { throw unrepresentable(type, at: position) }
    return value
  }

  func double(at position: Int) throws -> Double {
    let word = tape[position]
    guard word.isNumber else {
      if word.isString, let value = coding.nonFinite(string(word)) { return value }
      throw mismatch(Double.self, at: position)
    }
    if word.kind == .integer, word.length <= 15 {
      return Double(shortInteger(word), isNegative: tape.text(word)[0] == UInt8(ascii: "-"))
    }
    let value = JSONDouble.value(tape.text(word))
    guard value.isFinite else { throw unrepresentable(Double.self, at: position) }
    return value
  }

  func float(at position: Int) throws -> Float {
    let word = tape[position]
    guard word.isNumber else {
      if word.isString, let value = coding.nonFinite(string(word)) { return Float(value) }
      throw mismatch(Float.self, at: position)
    }
    guard let value = Float(string(word)), value.isFinite else { throw unrepresentable(Float.self, at: position) }
    return value
  }

  private func number(at position: Int) -> DecimalForm { DecimalForm(string(tape[position])) }

  // MARK: Errors

  /// Throws if a container of a model is nested too deeply.
  @inline(__always) func check(_ depth: Int, at position: Int) throws {
    if depth >= StackBudget.unmeasuredDepth { try checkStack(depth, at: position) }
  }

  @inline(never) private func checkStack(_ depth: Int, at position: Int) throws {
    guard depth < JSONLimits.maximumModelDepth, !stack.isExhausted() else {
      throw JSONError(.tooDeep, at: tape.offset(of: position))
    }
  }

  /// Returns the error for a value of another type.
  func mismatch(
    _ type: Any.Type, at position: Int, _ missing: MissingValue? = nil
  ) -> DecodingError {
    let context = context(
      "Expected \(Self.name(of: type)), found \(kind(position))", at: position, in: missing?.codingPath)
    return isNull(position) ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  func unrepresentable(_ type: Any.Type, at position: Int) -> DecodingError {
    corrupted("The number does not fit in \(type)", at: position)
  }

  func corrupted(_ text: String, at position: Int, cause: (any Error)? = nil) -> DecodingError {
    .dataCorrupted(context(text, at: position, cause: cause))
  }

  func context(
    _ text: String, at position: Int, in path: [any CodingKey]? = nil, cause: (any Error)? = nil
  ) -> DecodingError.Context {
    guard position != JSONTape.null else { return .init(codingPath: path ?? [], debugDescription: text + ".") }
    let location = location(of: position, cause)
    return .init(
      codingPath: path ?? codingPath(of: position), debugDescription: "\(text) (\(location)).",
      underlyingError: location)
  }

  private static func name(of type: Any.Type) -> String {
    type == [String: Any].self ? "an object" : type == [Any].self ? "an array" : "\(type)"
  }

  private func kind(_ position: Int) -> String {
    let word = tape[position]
    return switch word.kind {
    case .literal: word.isNull ? "null" : "a Boolean"
    case .integer, .fraction: "a number"
    case .string, .escapedString: "a string"
    case .array: "an array"
    case .object, .indexedObject: "an object"
    }
  }
}

extension Double {
  /// Creates the value of an integer, with the sign of a negative zero.
  @inline(__always) init(_ value: Int64, isNegative: Bool) {
    self = value == 0 && isNegative ? -0.0 : Double(value)
  }
}
