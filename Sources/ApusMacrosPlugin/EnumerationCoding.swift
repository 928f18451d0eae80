#if Macros
import SwiftSyntax

/// The members that read and write an enumeration.
struct EnumerationCoding: TypeCoding {
  private struct Case {
    /// The name in source code, and the name of the member.
    let name: String
    let key: String
    let values: [AssociatedValue]
  }

  private struct AssociatedValue {
    let label: String?
    let value: CodedValue
    let defaultValue: String?
  }

  private let cases: [Case]
  private let hasRawValue: Bool

  init(_ enumeration: EnumDeclSyntax) throws {
    guard !enumeration.cases.isEmpty else {
      throw MacroMistake.error("@JSONCodable needs a case to read and write: add one", at: enumeration.name)
    }
    for member in enumeration.memberBlock.members where member.decl.is(IfConfigDeclSyntax.self) {
      guard member.decl.tokens(viewMode: .sourceAccurate).contains(where: { $0.text == "case" }) else { continue }
      throw MacroMistake.error(
        "@JSONCodable does not know which branch of '#if' is compiled: move the case out of it", at: member.decl)
    }
    let inherited = enumeration.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription) ?? []
    let hasRawValue =
      inherited.first.map(Self.rawTypes.contains) == true || inherited.contains("RawRepresentable")
      || enumeration.cases.contains { $0.rawValue != nil }
    self.hasRawValue = hasRawValue
    let keys = hasRawValue ? nil : try CodingKeys(in: enumeration)
    try keys?.check(against: enumeration.cases.map(\.name.text), of: "case")
    cases = try hasRawValue ? [] : enumeration.cases.map { try Self.case($0, keys, in: enumeration) }
  }

  private static let rawTypes: Set = [
    "String", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double",
    "Float",
  ]

  private static func `case`(
    _ element: EnumCaseElementSyntax, _ keys: CodingKeys?, in enumeration: EnumDeclSyntax
  ) throws -> Case {
    let name = element.name.text
    guard let key = keys.map({ $0[name] }) ?? name.withoutBackticks else {
      throw MacroMistake.error("'\(name)' has no case in CodingKeys: add one", at: element)
    }
    let ownKeys = try CodingKeys(name.withoutBackticks.capitalizedFirst + "CodingKeys", in: enumeration)
    let parameters = element.parameterClause?.parameters.enumerated().map { ($0, $1) } ?? []
    let values = try parameters.map { index, parameter in
      let label = parameter.firstName.map(\.text).flatMap { $0 == "_" ? nil : $0 }
      let name = label ?? "_\(index)"
      guard let key = ownKeys.map({ $0[name] }) ?? name.withoutBackticks else {
        throw MacroMistake.error("'\(name)' has no case in the coding keys of its case: add one", at: parameter)
      }
      return AssociatedValue(
        label: label, value: CodedValue(name: name.identifier, type: parameter.type, key: key),
        defaultValue: parameter.defaultValue?.value.trimmedDescription)
    }
    try ownKeys?.check(against: values.map(\.value.name), of: "associated value")
    return Case(name: name, key: key, values: values)
  }

  private var names: [String] { cases.flatMap(\.values).map(\.value.name) }
  var reader: String { "reader".unlike(names) }
  var writer: String { "writer".unlike(names) }
  /// The variable for the case that was read.
  private var found: String { "value".unlike(names) }

  var reading: CodeLines? {
    if hasRawValue { return nil }
    let members = cases.map { (condition: "\(reader).isAt(\($0.key.literal))", body: reading($0)) }
    return ["var \(found): Self?", "try \(reader).beginObject()"]
      + block("while try \(reader).nextMember()", branches(members, otherwise: ["try \(reader).skip()"]))
      + block("guard let \(found) else", ["throw \(reader).objectError(\("No member is a case of the enum".literal))"])
      + ["self = \(found)"]
  }

  private func reading(_ it: Case) -> CodeLines {
    let arguments = it.values.map { associated in
      let value = associated.value
      let label = associated.label.map { "\($0.withoutBackticks): " } ?? ""
      if value.isOptional { return label + value.name }
      if let defaultValue = associated.defaultValue { return label + "\(value.name) ?? \(defaultValue)" }
      return label + "try \(reader).require(\(value.name), \(value.key.literal))"
    }
    let list = arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
    return block(
      "guard \(found) == nil else", ["throw \(reader).error(\("Two members are cases of the enum".literal))"])
      + it.values.map(\.value).reading(from: reader) + ["\(found) = .\(it.name)\(list)"]
  }

  var writing: CodeLines? {
    if hasRawValue { return nil }
    return ["\(writer).beginObject()"] + ["switch self {"] + cases.flatMap(writing)
      + ["}", "\(writer).endObject()"]
  }

  private func writing(_ it: Case) -> CodeLines {
    let bound = it.values.map { "let \($0.value.name)" }.joined(separator: ", ")
    let body =
      ["\(writer).beginMember(\(it.key.literal))", "\(writer).beginObject()"]
      + it.values.map(\.value).writing(to: writer) + ["\(writer).endObject()"]
    return ["case .\(it.name)\(bound.isEmpty ? "" : "(\(bound))"):"] + body.map { "  " + $0 }
  }
}
#endif
