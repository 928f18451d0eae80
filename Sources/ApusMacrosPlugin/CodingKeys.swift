#if Macros
import SwiftParser
import SwiftSyntax

/// The cases of a type's enumeration of coding keys, such as `CodingKeys`.
struct CodingKeys {
  private let names: [String: (name: String, node: EnumCaseElementSyntax)]

  /// Returns `nil` for a type without such an enumeration.
  ///
  /// - Throws: `DiagnosticsError` if the keys are declared in another way.
  init?(_ name: String = "CodingKeys", in type: some DeclGroupSyntax) throws {
    let declarations = type.memberBlock.members.map(\.decl)
    let others = declarations.filter {
      [$0.as(StructDeclSyntax.self)?.name.text, $0.as(TypeAliasDeclSyntax.self)?.name.text].contains(name)
    }
    if let other = others.first {
      throw MacroMistake.error(
        "@JSONCodable reads the cases of \(name): declare it as an enum with a case for each name", at: other)
    }
    guard let keys = declarations.lazy.compactMap({ $0.as(EnumDeclSyntax.self) }).first(where: { $0.name.text == name })
    else { return nil }
    let names = keys.cases.map { element in
      let name = element.name.text.withoutBackticks
      let value = element.rawValue?.value.as(StringLiteralExprSyntax.self)?.representedLiteralValue
      return (name, (name: value ?? name, node: element))
    }
    self.names = Dictionary(names) { $1 }
  }

  /// The name of the member for a property, case or label.
  subscript(name: String) -> String? { names[name.withoutBackticks]?.name }

  /// Checks that each key belongs to a property or case.
  func check(against declared: [String], of kind: String) throws {
    let unused = names.filter { !declared.lazy.map(\.withoutBackticks).contains($0.key) }
    guard let first = unused.values.min(by: { $0.node.position < $1.node.position }) else { return }
    throw MacroMistake.error(
      "'\(first.node.name.text)' is the name of no \(kind): remove the case or correct its name", at: first.node)
  }
}

extension EnumDeclSyntax {
  var cases: [EnumCaseElementSyntax] {
    memberBlock.members.compactMap { $0.decl.as(EnumCaseDeclSyntax.self) }.flatMap(\.elements)
  }
}
#endif
