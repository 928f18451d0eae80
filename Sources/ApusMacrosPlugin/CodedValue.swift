#if Macros
import SwiftSyntax

/// A value that is a member of an object: a stored property, or an associated value of an enumeration.
struct CodedValue {
  /// The name of the local variable in source code.
  let name: String
  /// The type, without `?`. `nil` for a constant with a value, which is only written.
  let type: String?
  let isOptional: Bool
  /// The name of the member.
  let key: String

  init(name: String, type: TypeSyntax?, key: String) {
    (self.name, self.key) = (name, key)
    let wrapped = type?.wrappedType
    self.type = (wrapped ?? type)?.trimmedDescription
    isOptional = wrapped != nil
  }
}

extension [CodedValue] {
  /// Returns the code that reads an object into local variables.
  func reading(from reader: String) -> CodeLines {
    let read = compactMap { value in value.type.map { (value: value, type: $0) } }
    let members = read.map { value, _ in
      (
        condition: "\(reader).isAt(\(value.key.literal))",
        body: ["try \(reader).\(value.isOptional ? "readIfPresent" : "read")(into: &\(value.name))"]
      )
    }
    return read.map { "var \($0.value.name): \($0.type)?" } + ["try \(reader).beginObject()"]
      + block("while try \(reader).nextMember()", branches(members, otherwise: ["try \(reader).skip()"]))
  }

  /// Returns the code that writes the members of an object, sorted by name as by an encoder.
  func writing(to writer: String) -> CodeLines {
    sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      .map { "try \(writer).write(\($0.name), as: \($0.key.literal))" }
  }
}

extension TypeSyntax {
  /// The wrapped type of an optional type, or `nil` for other types.
  var wrappedType: TypeSyntax? {
    if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType }
    if let optional = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return optional.wrappedType }
    guard let named = self.as(IdentifierTypeSyntax.self), named.name.text == "Optional",
      case .type(let type)? = named.genericArgumentClause?.arguments.first?.argument
    else { return nil }
    return type
  }
}
#endif
