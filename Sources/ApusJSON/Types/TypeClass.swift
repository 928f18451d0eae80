/// The way in which a type is decoded or encoded.
enum TypeClass: UInt {
  /// The type is decoded or encoded by its conformance.
  case ordinary = 1
  /// The type is `JSONReadable`.
  case readable
  case string, bool, int, double
  /// A number type that has no case of its own.
  case number
  case strings, ints, doubles
  /// An array that has no case of its own.
  case array
  /// A dictionary with keys of type `String`, which no key strategy converts.
  case dictionary
  /// A type of Foundation, or `JSONValue`.
  case other
  /// A coding key that is a case of an enum without associated values.
  case keyInSource
  case otherKey
}

/// The classes of types.
struct TypeClasses: Sendable {
  static let shared = TypeClasses()
  private let table = TypeTable()

  /// Returns the class of a type, if it is known.
  @inline(__always) func known(_ type: Any.Type) -> TypeClass? { table.known(type).flatMap { TypeClass(rawValue: $0) } }

  /// Returns the class of a type.
  @inline(__always) subscript(type: Any.Type) -> TypeClass { known(type) ?? classify(type) }

  private func classify(_ type: Any.Type) -> TypeClass {
    let typeClass: TypeClass
    switch type {
    case is String.Type: typeClass = .string
    case is Bool.Type: typeClass = .bool
    case is Int.Type: typeClass = .int
    case is Double.Type: typeClass = .double
    case is any FixedWidthInteger.Type, is Float.Type: typeClass = .number
    case is [String].Type: typeClass = .strings
    case is [Int].Type: typeClass = .ints
    case is [Double].Type: typeClass = .doubles
    case is JSONValue.Type, is JSONNumber.Type: typeClass = .other
    case let type as any ContainerType.Type: typeClass = type.typeClass
    default: typeClass = FoundationTypes.typeClass(of: type) ?? (type is any JSONReadable.Type ? .readable : .ordinary)
    }
    table.remember(type, typeClass.rawValue)
    return typeClass
  }

  /// Returns the type of the innermost values of nested containers, or the type itself if it is not a container.
  static func contained(in type: Any.Type) -> Any.Type {
    (type as? any ContainerType.Type).map { contained(in: $0.contained) } ?? type
  }

  /// Whether a coding key is written in source code.
  func isInSource(_ key: some CodingKey) -> Bool {
    if let known = known(type(of: key)) { return known == .keyInSource }
    let mirror = Mirror(reflecting: key)
    let isInSource = mirror.displayStyle == .enum && mirror.children.isEmpty
    table.remember(type(of: key), (isInSource ? TypeClass.keyInSource : .otherKey).rawValue)
    return isInSource
  }
}

/// Types of the standard library that contain values of another type.
private protocol ContainerType {
  static var typeClass: TypeClass { get }
  static var contained: Any.Type { get }
}

extension Array: ContainerType {
  fileprivate static var typeClass: TypeClass { .array }
  fileprivate static var contained: Any.Type { Element.self }
}

extension Dictionary: ContainerType where Key == String {
  fileprivate static var typeClass: TypeClass { .dictionary }
  fileprivate static var contained: Any.Type { Value.self }
}

extension Optional: ContainerType {
  fileprivate static var typeClass: TypeClass { .ordinary }
  fileprivate static var contained: Any.Type { Wrapped.self }
}

extension Set: ContainerType {
  fileprivate static var typeClass: TypeClass { .ordinary }
  fileprivate static var contained: Any.Type { Element.self }
}

/// The types that read or write themselves, and containers of such types.
///
/// Containers of other types are decoded and encoded, because the specialized functions for this are faster.
struct DirectTypes: Sendable {
  static let shared = DirectTypes()
  private let table = TypeTable()

  private static let readable: UInt = 1
  private static let writable: UInt = 2

  @inline(__always) func isReadable(_ type: Any.Type) -> Bool { facts(type) & Self.readable != 0 }
  @inline(__always) func isWritable(_ type: Any.Type) -> Bool { facts(type) & Self.writable != 0 }

  @inline(__always) private func facts(_ type: Any.Type) -> UInt { table.known(type) ?? find(type) }

  private func find(_ type: Any.Type) -> UInt {
    var facts: UInt = 0
    switch TypeClasses.shared[TypeClasses.contained(in: type)] {
    case .ordinary, .readable:
      if type is any JSONReadable.Type { facts |= Self.readable }
      if type is any JSONWritable.Type { facts |= Self.writable }
    default: break
    }
    table.remember(type, facts)
    return facts
  }
}
