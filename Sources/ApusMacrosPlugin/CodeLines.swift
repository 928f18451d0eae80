#if Macros
import SwiftParser

/// Lines of source code.
typealias CodeLines = [String]

/// Returns a statement or declaration with a body in braces.
func block(_ head: String, _ body: CodeLines) -> CodeLines {
  [head + " {"] + body.map { "  " + $0 } + ["}"]
}

/// Returns an `if` statement with a branch for each condition.
func branches(_ branches: [(condition: String, body: CodeLines)], otherwise: CodeLines) -> CodeLines {
  guard let first = branches.first else { return otherwise }
  var lines = ["if \(first.condition) {"]
  for (index, branch) in branches.enumerated() {
    if index > 0 { lines.append("} else if \(branch.condition) {") }
    lines += branch.body.map { "  " + $0 }
  }
  return lines + ["} else {"] + otherwise.map { "  " + $0 } + ["}"]
}

extension String {
  /// The text as a literal in source code.
  var literal: String { debugDescription }

  /// An identifier without its backticks.
  var withoutBackticks: String { filter { $0 != "`" } }

  /// The name as an identifier in source code: in backticks if it is a keyword.
  var identifier: String { isValidSwiftIdentifier(for: .variableName) ? self : "`\(self)`" }

  /// Returns the name, or a different name if the code already uses it.
  func unlike(_ names: [String]) -> String {
    names.contains(self) ? ("json" + capitalizedFirst).unlike(names) : self
  }

  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
#endif
