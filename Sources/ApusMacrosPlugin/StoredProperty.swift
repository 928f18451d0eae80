#if Macros
import SwiftSyntax
import SwiftSyntaxBuilder

/// The declaration of a stored property.
struct StoredProperty {
  /// The name as written.
  let name: String
  let type: TypeSyntax?
  let initialValue: ExprSyntax?
  let isConstant: Bool
  private let attributes: AttributeListSyntax
  private let node: PatternBindingSyntax

  /// Returns the stored properties of a declaration, without static and lazy properties.
  static func properties(in declaration: DeclSyntax) throws -> [StoredProperty] {
    if let condition = declaration.as(IfConfigDeclSyntax.self) {
      try check(condition)
      return []
    }
    guard let variable = declaration.as(VariableDeclSyntax.self),
      !variable.modifiers.contains(where: { ["static", "lazy"].contains($0.name.text) })
    else { return [] }
    // `var a, b: Int`: both are integers.
    var type: TypeSyntax?
    return try variable.bindings.reversed().compactMap { binding in
      type = binding.typeAnnotation?.type ?? (binding.initializer == nil ? type : nil)
      return binding.isStored ? try StoredProperty(binding, type, in: variable) : nil
    }.reversed()
  }

  private init(_ binding: PatternBindingSyntax, _ type: TypeSyntax?, in variable: VariableDeclSyntax) throws {
    guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else {
      throw MacroMistake.error("@JSONCodable needs a name for each property: declare them separately", at: binding)
    }
    (self.name, self.type, initialValue) = (name, type, binding.initializer?.value)
    isConstant = variable.bindingSpecifier.text == "let"
    (attributes, node) = (variable.attributes, binding)
  }

  /// The type, which is inferred for a literal.
  var requiredType: TypeSyntax {
    get throws {
      if let type { return type }
      switch initialValue?.kind {
      case .integerLiteralExpr: return "Int"
      case .floatLiteralExpr: return "Double"
      case .booleanLiteralExpr: return "Bool"
      case .stringLiteralExpr: return "String"
      default:
        throw MacroMistake.error(
          "@JSONCodable needs the type of '\(name)': write 'var \(name): Type = …'", at: node)
      }
    }
  }

  /// Checks that a property that is not read has a default value.
  func checkIsInitialized() throws {
    if initialValue != nil || !isConstant && type?.is(OptionalTypeSyntax.self) == true { return }
    throw MacroMistake.error("'\(name)' has no case in CodingKeys: add one, or a default value", at: node)
  }

  /// Checks that the property has no property wrapper, which would have its own representation.
  func checkAttributes() throws {
    for case .attribute(let attribute) in attributes {
      let name = attribute.attributeName.trimmedDescription
      guard let first = name.first, first.isUppercase, !name.hasSuffix("Actor") else { continue }
      throw MacroMistake.error(
        "@JSONCodable does not know how '@\(name)' is represented: leave '\(self.name)' out of CodingKeys, or write the "
          + "conformances to JSONReadable and JSONWritable by hand", at: attribute)
    }
  }

  private static func check(_ condition: IfConfigDeclSyntax) throws {
    for clause in condition.clauses {
      guard case .decls(let members)? = clause.elements else { continue }
      for member in members where try !properties(in: member.decl).isEmpty {
        throw MacroMistake.error(
          "@JSONCodable does not know which branch of '#if' is compiled: move the stored property out of it",
          at: member.decl)
      }
    }
  }
}

extension PatternBindingSyntax {
  /// Whether the property has storage: no accessors, or only observers.
  fileprivate var isStored: Bool {
    switch accessorBlock?.accessors {
    case nil: true
    case .getter: false
    case .accessors(let list): list.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }
  }
}
#endif
