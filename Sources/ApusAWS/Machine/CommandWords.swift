/// The words of a command line, separated as in a shell, without any other feature of a shell.
enum CommandWords {
  /// Returns the words; `nil` if a quotation mark is not closed.
  ///
  /// White space separates words. Single quotation marks quote everything between them. Double quotation marks quote
  /// everything between them except a backslash before a double quotation mark or before a backslash. Outside of
  /// quotation marks a backslash quotes the next character.
  static func split(_ line: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var characters = line.unicodeScalars[...]
    while let character = characters.popFirst() {
      switch character {
      case " ", "\t", "\n", "\r":
        if let complete = word.take() { words.append(complete) }
      case "\\":
        guard let next = characters.popFirst() else { return nil }
        append(next, to: &word)
      case "'":
        guard let end = characters.firstIndex(of: "'") else { return nil }
        word = (word ?? "") + String(characters[..<end])
        characters = characters[end...].dropFirst()
      case "\"":
        guard quoted(&characters, &word) else { return nil }
      default: append(character, to: &word)
      }
    }
    if let word { words.append(word) }
    return words
  }

  private static func append(_ character: Unicode.Scalar, to word: inout String?) {
    var text = word.take() ?? ""
    text.unicodeScalars.append(character)
    word = text
  }

  private static func quoted(_ characters: inout Substring.UnicodeScalarView, _ word: inout String?) -> Bool {
    word = word ?? ""
    while let character = characters.popFirst() {
      switch character {
      case "\"": return true
      case "\\" where characters.first == "\"" || characters.first == "\\":
        if let next = characters.popFirst() { append(next, to: &word) }
      default: append(character, to: &word)
      }
    }
    return false
  }
}
