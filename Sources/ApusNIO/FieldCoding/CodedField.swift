import HTTPTypes

/// The properties of a decoded field that depend only on its name and value.
struct FieldFacts: Sendable, Hashable {
  /// The role of a field in its field section.
  enum Role: UInt8, Sendable {
    case other
    case contentLength
    case status
    /// A pseudo-header field that is not defined for responses.
    case pseudo
    /// `TE`, whose only value is `trailers` (RFC 9113 §8.2.2).
    case transferCodings
  }

  /// The number of bytes in the name.
  let nameCount: Int32
  let valueCount: Int32
  let role: Role
  /// The rule that the field breaks in any field section, or `nil`.
  let broken: FieldFault.Rule?

  /// The size of the field (RFC 7541 §4.1, RFC 9113 §10.5.1).
  @inline(__always)
  var size: Int { Int(nameCount) + Int(valueCount) + 32 }
}

/// A decoded field of a field block.
///
/// Malformed fields are kept too: a later field block can refer to a malformed field, and its size counts.
struct CodedField: Sendable {
  /// The field. A malformed name is replaced by a placeholder, and the value of a malformed field by an empty string.
  let field: HTTPField
  let facts: FieldFacts

  @inline(__always)
  init(_ name: CodedName, value: UnsafeRawBufferPointer) {
    let text = Octet.text(value)
    var broken = name.broken
    if broken == nil, text == .forbidden || !Self.hasTightEnds(value) { broken = .malformedValue }
    if broken == nil, name.role == .transferCodings, !Octet.spells(value, "trailers") { broken = .connectionField }
    if broken != nil {
      field = HTTPField(name: name.name, value: "")
    } else if text == .ascii {
      field = HTTPField(name: name.name, value: Octet.string(value))
    } else {
      // Initializing the field with bytes preserves values that are not UTF-8.
      field = HTTPField(name: name.name, value: value)
    }
    facts = FieldFacts(
      nameCount: name.count, valueCount: Int32(clamping: value.count), role: name.role, broken: broken)
  }

  @inline(__always)
  private static func hasTightEnds(_ value: UnsafeRawBufferPointer) -> Bool {
    guard value.count > 0 else { return true }
    return !Octet.isBlank(value[0]) && !Octet.isBlank(value[value.count - 1])
  }
}

/// An entry of the static or dynamic table. A class, so that a look-up copies neither the name nor the value.
final class TableField: Sendable, FieldTableEntry {
  let field: HTTPField
  let facts: FieldFacts

  var size: Int { facts.size }

  init(_ coded: CodedField) {
    (field, facts) = (coded.field, coded.facts)
  }

  /// Creates an entry of the static table.
  convenience init(name: String, value: String) {
    var (name, value) = (name, value)
    let coded = name.withUTF8 { name in
      value.withUTF8 { value in
        CodedField(CodedName(UnsafeRawBufferPointer(name)), value: UnsafeRawBufferPointer(value))
      }
    }
    self.init(coded)
  }
}

/// The name of a decoded field, with the properties that depend only on the name.
struct CodedName {
  /// The name, or a placeholder if the name is malformed.
  let name: HTTPField.Name
  let count: Int32
  let role: FieldFacts.Role
  let broken: FieldFault.Rule?

  /// Creates the name from an entry of the static or dynamic table.
  @inline(__always)
  init(_ field: TableField) {
    (name, count, role) = (field.field.name, field.facts.nameCount, field.facts.role)
    broken = field.facts.broken.flatMap { $0.isAboutName ? $0 : nil }
  }

  init(_ bytes: UnsafeRawBufferPointer) {
    count = Int32(clamping: bytes.count)
    if bytes.first == Octet.colon {
      let name = HTTPField.Name(parsed: Octet.string(bytes))
      self.name = name ?? .date
      role = Octet.spells(bytes, ":status") ? .status : .pseudo
      broken = name == nil ? .malformedName : nil
    } else if Self.hasUpperCase(bytes) {
      (name, role, broken) = (.date, .other, .upperCaseName)
    } else if let (name, role) = FieldNames.shared.find(bytes) {
      self.name = name
      self.role =
        role == .contentLength ? .contentLength : Octet.spells(bytes, "te") ? .transferCodings : .other
      broken = Self.isConnectionSpecific(bytes, role) ? .connectionField : nil
    } else {
      (name, role, broken) = (.date, .other, .malformedName)
    }
  }

  @inline(__always)
  private static func hasUpperCase(_ bytes: UnsafeRawBufferPointer) -> Bool {
    for byte in bytes where byte &- UInt8(ascii: "A") < 26 { return true }
    return false
  }

  /// Whether the field is connection-specific (RFC 9113 §8.2.2).
  private static func isConnectionSpecific(_ bytes: UnsafeRawBufferPointer, _ role: FieldNames.Role) -> Bool {
    switch role {
    case .connection, .transferEncoding: true
    case .contentLength: false
    case .other:
      switch bytes.count {
      case 7: Octet.spells(bytes, "upgrade")
      case 10: Octet.spells(bytes, "keep-alive")
      case 16: Octet.spells(bytes, "proxy-connection")
      default: false
      }
    }
  }
}
