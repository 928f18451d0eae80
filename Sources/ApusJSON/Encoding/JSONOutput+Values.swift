extension JSONOutput {
  /// Encodes a value of any type as a node.
  @inline(__always) func encode<T: Encodable>(_ value: T, as node: Int) throws {
    switch types[T.self] {
    case .ordinary, .readable, .number, .keyInSource, .otherKey:
      try check(node, value)
      try value.encode(to: ValueEncoder(self, node))
    case .string: encode(unsafeBitCast(value, to: String.self), as: node)
    case .int: encode(integer: Int64(unsafeBitCast(value, to: Int.self)), as: node)
    case .double: try encode(unsafeBitCast(value, to: Double.self), as: node)
    case .bool: encode(unsafeBitCast(value, to: Bool.self), as: node)
    case .strings:
      open(node, .array)
      for element in unsafeBitCast(value, to: [String].self) { encode(element, as: addElement(to: node)) }
    case .ints:
      open(node, .array)
      for element in unsafeBitCast(value, to: [Int].self) { encode(integer: Int64(element), as: addElement(to: node)) }
    case .doubles:
      open(node, .array)
      for element in unsafeBitCast(value, to: [Double].self) { try encode(element, as: addElement(to: node)) }
    case .array, .dictionary: try encodeContainer(value, as: node)
    case .other: try encodeOther(value, as: node)
    }
  }

  private func encodeContainer<T: Encodable>(_ value: T, as node: Int) throws {
    try check(node, value)
    guard let container = container(T.self) else { return try value.encode(to: ValueEncoder(self, node)) }
    try withUnsafePointer(to: value) { try container.encode(UnsafeRawPointer($0), to: self, as: node) }
  }

  private func container(_ type: Any.Type) -> (any NodeEncodable.Type)? {
    let identifier = ObjectIdentifier(type)
    if let known = containerTypes[identifier] { return known }
    let container = type as? any NodeEncodable.Type
    containerTypes[identifier] = container
    return container
  }

  // MARK: Scalars

  /// Turns a node into a scalar with the text that a function appends.
  @inline(__always) func scalar(_ node: Int, _ write: (inout JSONText) -> Void) {
    let start = text.count
    write(&text)
    setScalar(node, from: start)
  }

  func encodeNull(as node: Int) { scalar(node) { $0.append("null") } }
  func encode(_ value: Bool, as node: Int) { scalar(node) { $0.append(value ? "true" : "false") } }
  func encode(_ value: String, as node: Int) { scalar(node) { $0.append(quoted: value) } }
  func encode(integer value: Int64, as node: Int) { scalar(node) { $0.append(value) } }

  @inline(__always) func encode<T: FixedWidthInteger>(anyInteger value: T, as node: Int) {
    if let value = Int64(exactly: value) {
      encode(integer: value, as: node)
    } else {
      scalar(node) { $0.append(unquoted: String(value)) }
    }
  }

  func encode(_ value: Double, as node: Int) throws {
    guard value.isFinite else { return try encode(nonFinite: value, as: node) }
    scalar(node) { $0.append(number: value) }
  }

  func encode(_ value: Float, as node: Int) throws {
    guard value.isFinite else { return try encode(nonFinite: Double(value), as: node) }
    scalar(node) { $0.append(number: value) }
  }

  private func encode(nonFinite value: Double, as node: Int) throws {
    guard case .strings(let infinity, let negative, let nan) = coding.nonFiniteNumbers else {
      throw error(value, "The number is not finite.", at: node)
    }
    encode(value.isNaN ? nan : value > 0 ? infinity : negative, as: node)
  }
}

/// A container of the standard library whose elements are encoded in a specialized loop.
protocol NodeEncodable {
  /// - Parameter memory: the address of a value of this type.
  static func encode(_ memory: UnsafeRawPointer, to output: JSONOutput, as node: Int) throws
}

extension Array: NodeEncodable where Element: Encodable {
  static func encode(_ memory: UnsafeRawPointer, to output: JSONOutput, as node: Int) throws {
    output.open(node, .array)
    for element in memory.assumingMemoryBound(to: Self.self).pointee {
      try output.encode(element, as: output.addElement(to: node))
    }
  }
}

extension Dictionary: NodeEncodable where Key == String, Value: Encodable {
  static func encode(_ memory: UnsafeRawPointer, to output: JSONOutput, as node: Int) throws {
    output.open(node, .object)
    for (name, value) in memory.assumingMemoryBound(to: Self.self).pointee {
      try output.encode(value, as: output.addMember(unconverted: name, to: node))
    }
  }
}
