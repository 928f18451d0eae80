#if Macros
import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [JSONCodableMacro.self]
}
#else
/// Without the trait `Macros` no compiler starts this program.
@main
enum Plugin {
  static func main() {}
}
#endif
