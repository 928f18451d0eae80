import Foundation
import Testing

/// A comparison of a README sample with the code of a test, line by line.
enum ReadmeSample {
  /// Returns the lines of a sample, without imports, comments and blank lines.
  static func lines(_ name: String) throws -> [String] {
    try lines(ofDocument: readme().components(separatedBy: "<!-- sample: \(name) -->")[1])
  }

  /// Returns the README's first lines.
  static func firstLines(_ count: Int) throws -> String {
    try readme().split(separator: "\n", omittingEmptySubsequences: false).prefix(count).joined(separator: "\n")
  }

  /// Returns the lines of a test's file between `// begin` and `// end`, without access modifiers.
  static func marked(in file: String = #filePath) throws -> [String] {
    var isInside = false
    var marked: [String] = []
    for line in try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "\n") {
      switch line.trimmingCharacters(in: .whitespaces) {
      case "// begin": isInside = true
      case "// end": isInside = false
      default: if isInside { marked.append(line) }
      }
    }
    return code(marked)
  }

  private static func readme() throws -> String {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("README.md")
    return try String(contentsOf: file, encoding: .utf8)
  }

  private static func lines(ofDocument text: String) throws -> [String] {
    let block = text.components(separatedBy: "```")
    try #require(block.count > 2 && block[1].hasPrefix("swift\n"))
    return code(block[1].components(separatedBy: "\n").dropFirst())
  }

  private static func code(_ lines: some Sequence<String>) -> [String] {
    lines.map { line in
      let line = line.components(separatedBy: "// ")[0].trimmingCharacters(in: .whitespaces)
      return line.replacing("fileprivate ", with: "").replacing("private ", with: "")
    }.filter { !$0.isEmpty && !$0.hasPrefix("import ") }
  }
}
