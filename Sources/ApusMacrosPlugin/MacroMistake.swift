#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// A declaration that the macro does not accept.
struct MacroMistake: DiagnosticMessage {
  let message: String
  let severity = DiagnosticSeverity.error
  var diagnosticID: MessageID { MessageID(domain: "JSONCodable", id: message) }

  /// An error that the compiler shows at a place.
  ///
  /// - Parameter message: what is wrong, and what to do about it.
  static func error(_ message: String, at node: some SyntaxProtocol) -> DiagnosticsError {
    DiagnosticsError(diagnostics: [Diagnostic(node: node, message: MacroMistake(message: message))])
  }
}
#endif
