import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A file of sections with properties: `~/.aws/config` or `~/.aws/credentials`.
///
/// Any text results in sections, or in an error with a line number. A line that begins with `#` or `;` is a comment.
/// The rest of a line after white space and `#` or `;` is a comment, too. A line that begins with white space continues
/// the value before it. Sections with equal names are merged; of several properties with the same name the last
/// property is used.
struct ConfigFile: Sendable, Hashable, SelfRedacting {
  /// The error of content that is not a file of sections.
  struct Failure: LoggableError, Hashable {
    /// The number of the line, from 1.
    let line: Int
    let reason: String

    var description: String { "line \(line): \(reason)" }
  }

  /// The maximum size of a file in bytes.
  static let maximumLength = 1 << 20

  /// The properties of each section by lower-case name. The key of a section is its title without brackets.
  private(set) var sections: [String: [String: String]] = [:]

  var description: String { "ConfigFile(\(sections.keys.sorted()))" }

  init() {}

  init(_ bytes: Data) throws(Failure) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(line: 1, reason: "the file is not UTF-8")
    }
    var parser = Parser()
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) { try parser.take(line) }
    sections = parser.sections
  }

  private struct Parser {
    var sections: [String: [String: String]] = [:]
    private var number = 0
    private var section: String?
    private var property: String?

    mutating func take(_ line: Substring) throws(Failure) {
      number += 1
      let isIndented = line.first.map { $0 == " " || $0 == "\t" } ?? false
      let text = line.trimmed
      guard let first = text.first, first != "#", first != ";" else { return }
      if first == "[" { return try begin(text) }
      guard let section else { throw Failure(line: number, reason: "a property is outside of all sections") }
      if isIndented {
        guard let property else { throw Failure(line: number, reason: "the line continues nothing") }
        return append(text, to: property, in: section)
      }
      guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
        throw Failure(line: number, reason: "there is no name before a `=`")
      }
      let name = text[..<sign].trimmed.lowercased()
      guard !name.isEmpty else { throw Failure(line: number, reason: "there is no name before a `=`") }
      property = name
      sections[section, default: [:]][name] = String(text[sign...].dropFirst().withoutComment.trimmed)
    }

    private mutating func begin(_ text: Substring) throws(Failure) {
      guard let end = text.firstIndex(of: "]") else { throw Failure(line: number, reason: "a section has no `]`") }
      let rest = text[end...].dropFirst().trimmed
      guard rest.isEmpty || rest.first == "#" || rest.first == ";" else {
        throw Failure(line: number, reason: "there is text after the `]`")
      }
      let words = CommandWords.split(String(text[..<end].dropFirst()))
      guard let words, !words.isEmpty else { throw Failure(line: number, reason: "a section has no name") }
      let title = words.joined(separator: " ")
      (section, property) = (title, nil)
      if sections[title] == nil { sections[title] = [:] }
    }

    private mutating func append(_ text: Substring, to property: String, in section: String) {
      let value = sections[section]?[property] ?? ""
      sections[section]?[property] = value + "\n" + text
    }
  }
}

extension Substring {
  /// The text without spaces and tabs around it.
  fileprivate var trimmed: Substring { Substring(utf8.trimmed) }

  /// The text before white space and a `#` or `;`.
  fileprivate var withoutComment: Substring {
    var isAfterSpace = false
    for index in indices {
      let character = self[index]
      if isAfterSpace, character == "#" || character == ";" { return self[..<index] }
      isAfterSpace = character == " " || character == "\t"
    }
    return self
  }
}
