#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// A declaration that the macro does not accept.
struct MacroMistake: DiagnosticMessage {
  let message: String
  let severity = DiagnosticSeverity.error
  var diagnosticID: MessageID { MessageID(domain: "JSONCodable", id: message) }

  /// Returns an error that the compiler reports at a node.
  ///
  /// - Parameter message: the fault and its remedy.
  static func error(_ message: String, at node: some SyntaxProtocol) -> DiagnosticsError {
    DiagnosticsError(diagnostics: [Diagnostic(node: node, message: MacroMistake(message: message))])
  }
}
#endif
