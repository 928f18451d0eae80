#if Macros
public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// The implementation of `@JSONCodable`.
public struct JSONCodableMacro: ExtensionMacro {
  /// Returns the extension with the conformances that the type does not have.
  ///
  /// - Throws: `DiagnosticsError` for a declaration that the macro does not accept.
  public static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    let coding = try coding(of: declaration)
    // The generated extension is declared outside of the surrounding type, where a private type is not visible.
    if !context.lexicalContext.isEmpty, let level = declaration.modifiers.first(where: { $0.name.text == "private" }) {
      throw MacroMistake.error(
        "@JSONCodable does not reach a private type inside of another: make it fileprivate", at: level)
    }
    // Contains only the protocols to which the type does not conform already.
    let names = protocols.map(\.trimmedDescription)
    let access = access(of: declaration, in: context)
    var members: [CodeLines] = []
    if names.contains("JSONReadable"), let body = coding.reading {
      members.append(block("\(access)init(from \(coding.reader): inout JSONReader) throws", body))
    }
    if names.contains("JSONWritable"), let body = coding.writing {
      members.append(block("\(access)func write(to \(coding.writer): inout JSONWriter) throws", body))
    }
    guard !names.isEmpty else { return [] }
    let isolation = declaration.modifiers.contains { $0.name.text == "nonisolated" } ? "nonisolated " : ""
    let head =
      "\(isolation)extension \(type.trimmedDescription): \(names.joined(separator: ", "))"
      + (try requirements(of: declaration, names))
    let text = block(head, Array(members.joined(separator: [""]))).joined(separator: "\n")
    return [try ExtensionDeclSyntax("\(raw: text)")]
  }

  private static func coding(of declaration: some DeclGroupSyntax) throws -> any TypeCoding {
    if let structure = declaration.as(StructDeclSyntax.self) { return try StructureCoding(structure) }
    if let enumeration = declaration.as(EnumDeclSyntax.self) { return try EnumerationCoding(enumeration) }
    throw MacroMistake.error(
      "@JSONCodable applies to structs and enums: for other types write the conformances to JSONReadable and "
        + "JSONWritable by hand", at: declaration.introducer)
  }

  /// Returns the access level of the members, so that they are as visible as the type.
  private static func access(of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext) -> String {
    let levels = ["public", "package", "internal", "fileprivate", "private"]
    func level(_ modifiers: DeclModifierListSyntax) -> String? {
      modifiers.map(\.name.text).first(where: levels.contains)
    }
    // A type without an access level has the access level of the surrounding extension.
    let surrounding = context.lexicalContext.first?.as(ExtensionDeclSyntax.self).flatMap { level($0.modifiers) }
    let own = level(declaration.modifiers) ?? surrounding
    return own == "public" || own == "package" ? "\(own ?? "") " : ""
  }

  /// Returns the `where` clause of the extension, which requires type parameters to conform, too.
  private static func requirements(of declaration: some DeclGroupSyntax, _ protocols: [String]) throws -> String {
    let parameters =
      declaration.as(StructDeclSyntax.self)?.genericParameterClause?.parameters
      ?? declaration.as(EnumDeclSyntax.self)?.genericParameterClause?.parameters
    guard let parameters else { return "" }
    for parameter in parameters where parameter.specifier != nil {
      throw MacroMistake.error(
        "@JSONCodable supports type parameters only: write the conformances to JSONReadable and JSONWritable by hand",
        at: parameter)
    }
    return " where "
      + parameters.map { "\($0.name.text): \(protocols.joined(separator: " & "))" }.joined(separator: ", ")
  }
}

/// The code of the members that read and write a type.
protocol TypeCoding {
  /// The names of the parameters.
  var reader: String { get }
  var writer: String { get }
  /// The bodies of the members; `nil` for a type that inherits the members from its conformance.
  var reading: CodeLines? { get }
  var writing: CodeLines? { get }
}
#endif
