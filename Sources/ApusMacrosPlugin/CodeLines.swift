#if Macros
import SwiftParser

/// Lines of source code.
typealias CodeLines = [String]

/// A statement or declaration with a body in braces.
func block(_ head: String, _ body: CodeLines) -> CodeLines {
  [head + " {"] + body.map { "  " + $0 } + ["}"]
}

/// An `if` statement with a branch for each condition.
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

  /// An identifier as it reads without backticks.
  var withoutBackticks: String { filter { $0 != "`" } }

  /// The name as an identifier in source code: in backticks if it is a keyword, as a label may be.
  var identifier: String { isValidSwiftIdentifier(for: .variableName) ? self : "`\(self)`" }

  /// The name, or another one if the code uses it for something else.
  func unlike(_ names: [String]) -> String {
    names.contains(self) ? ("json" + capitalizedFirst).unlike(names) : self
  }

  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
#endif
