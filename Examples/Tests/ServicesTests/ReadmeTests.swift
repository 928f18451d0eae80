import Foundation
import Testing

/// Tests that the README's samples are compiled: each sample is part of the source file that the comment above it
/// names.
@Suite struct ReadmeTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private struct Sample: Sendable, CustomTestStringConvertible {
    let file: String
    let lines: [String]
    var testDescription: String { file }
  }

  /// Returns the samples after lines `<!-- from FILE -->`.
  private static func samples() throws -> [Sample] {
    let text = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    var samples: [Sample] = []
    var lines = text.components(separatedBy: "\n")[...]
    while let line = lines.popFirst() {
      guard let file = line.firstMatch(of: /^<!-- from (.+) -->$/)?.1, lines.popFirst() == "```swift" else { continue }
      let end = lines.firstIndex(of: "```") ?? lines.endIndex
      samples.append(Sample(file: String(file), lines: Array(lines[..<end])))
      lines = lines[end...]
    }
    return samples
  }

  /// Returns lines without indentation, comments and blank lines.
  private static func code(_ lines: [String]) -> [String] {
    lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty && !$0.hasPrefix("//") }
  }

  @Test("Every sample is part of its source file, line by line")
  func samplesAreCompiled() throws {
    let samples = try Self.samples()
    #expect(samples.count >= 3)
    for sample in samples {
      let file = try String(contentsOf: Self.root.appendingPathComponent(sample.file), encoding: .utf8)
      let (shown, compiled) = (Self.code(sample.lines), Self.code(file.components(separatedBy: "\n")))
      #expect(!shown.isEmpty)
      let starts = compiled.indices.filter { compiled[$0] == shown.first }
      let isThere = starts.contains { Array(compiled[$0...].prefix(shown.count)) == shown }
      #expect(isThere, "\(sample.file) does not contain\n\(shown.joined(separator: "\n"))")
    }
  }
}
