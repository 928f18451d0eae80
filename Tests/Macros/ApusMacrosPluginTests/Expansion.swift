import ApusMacrosExpansion
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// Expects the code that `@JSONCodable` adds to a type that lacks the given conformances.
func expect(
  _ source: String, expandsTo expansion: String, conformances: [TypeSyntax] = ["JSONReadable", "JSONWritable"],
  _ location: Testing.SourceLocation = #_sourceLocation
) {
  assertMacroExpansion(
    source, expandedSource: source.withoutAttribute + "\n\n" + expansion, macroSpecs: specs(conformances),
    indentationWidth: .spaces(2)
  ) { failure in
    Issue.record("\(failure.message)", sourceLocation: location)
  }
}

/// Expects that `@JSONCodable` refuses a declaration, with an error at a line and column.
func expectMistake(
  _ source: String, _ message: String, at place: (line: Int, column: Int),
  _ location: Testing.SourceLocation = #_sourceLocation
) {
  assertMacroExpansion(
    source, expandedSource: source.withoutAttribute,
    diagnostics: [DiagnosticSpec(message: message, line: place.line, column: place.column)],
    macroSpecs: specs(["JSONReadable", "JSONWritable"]), indentationWidth: .spaces(2)
  ) { failure in
    Issue.record("\(failure.message)", sourceLocation: location)
  }
}

private func specs(_ conformances: [TypeSyntax]) -> [String: MacroSpec] {
  ["JSONCodable": MacroSpec(type: JSONCodableMacro.self, conformances: conformances)]
}

extension String {
  fileprivate var withoutAttribute: String { replacing(#/@JSONCodable\n */#, with: "") }
}
