import Synchronization

/// The way in which a type is decoded or encoded.
enum TypeClass: UInt {
  /// By its own conformance.
  case ordinary = 1
  case string, bool, int, double
  case strings, ints, doubles
  /// Another array.
  case array
  /// A dictionary with keys of type `String`, which no key strategy converts.
  case dictionary
  /// A type of Foundation, or any JSON.
  case other
  /// A coding key that is a case of an enum without associated values.
  case keyInSource
  case otherKey
}

/// The classes of the types that were seen, by the addresses of their metadata.
///
/// Casting a type to a protocol takes longer than decoding a small value. An entry is one word, the address with the
/// class in its highest bits, which is read and replaced atomically: a replaced entry is only found anew.
struct TypeTable: @unchecked Sendable {
  static let shared = TypeTable()

  private static let size = 256
  // Addresses have at most 56 bits on the platforms that Apus supports.
  private static let shift = UInt(UInt.bitWidth - 8)
  // Unsafe because atomics have a fixed place in memory; the only table is never freed.
  private let entries: UnsafeMutablePointer<Atomic<UInt>>

  private init() {
    entries = .allocate(capacity: Self.size)
    for index in 0..<Self.size { (entries + index).initialize(to: Atomic(0)) }
  }

  /// Returns the class of a type, if it is known.
  @inline(__always) func known(_ type: Any.Type) -> TypeClass? {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let entry = slot(address).pointee.load(ordering: .relaxed)
    guard (entry ^ address) << 8 == 0 else { return nil }
    return TypeClass(rawValue: entry >> Self.shift)
  }

  func remember(_ type: Any.Type, _ typeClass: TypeClass) {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    guard address >> Self.shift == 0 else { return }
    slot(address).pointee.store(address | typeClass.rawValue << Self.shift, ordering: .relaxed)
  }

  @inline(__always) private func slot(_ address: UInt) -> UnsafeMutablePointer<Atomic<UInt>> {
    entries + Int((address >> 4 ^ address >> 12) & UInt(Self.size - 1))
  }
}

extension TypeTable {
  /// Returns the class of a type.
  @inline(__always) func typeClass(of type: Any.Type) -> TypeClass { known(type) ?? classify(type) }

  @inline(never) private func classify(_ type: Any.Type) -> TypeClass {
    let typeClass: TypeClass
    switch type {
    case is String.Type: typeClass = .string
    case is Bool.Type: typeClass = .bool
    case is Int.Type: typeClass = .int
    case is Double.Type: typeClass = .double
    case is [String].Type: typeClass = .strings
    case is [Int].Type: typeClass = .ints
    case is [Double].Type: typeClass = .doubles
    case is JSONValue.Type, is JSONNumber.Type: typeClass = .other
    case let type as any ContainerType.Type: typeClass = type.typeClass
    default: typeClass = FoundationTypes.typeClass(of: type) ?? .ordinary
    }
    remember(type, typeClass)
    return typeClass
  }

  /// Whether a coding key is written in source code.
  func isInSource(_ key: some CodingKey) -> Bool {
    if let known = known(type(of: key)) { return known == .keyInSource }
    let mirror = Mirror(reflecting: key)
    let isInSource = mirror.displayStyle == .enum && mirror.children.isEmpty
    remember(type(of: key), isInSource ? .keyInSource : .otherKey)
    return isInSource
  }
}

/// Containers that are coded in a loop of their own.
private protocol ContainerType { static var typeClass: TypeClass { get } }
extension Array: ContainerType { fileprivate static var typeClass: TypeClass { .array } }
extension Dictionary: ContainerType where Key == String { fileprivate static var typeClass: TypeClass { .dictionary } }
