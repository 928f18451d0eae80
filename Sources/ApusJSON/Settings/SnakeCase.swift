/// Conversion of names from and to snake case, as by Foundation's coders.
enum SnakeCase {
  /// Whether a name in snake case converts to a given name. `nil` if the name is not ASCII.
  static func isEqual(_ snake: UnsafeRawBufferPointer, toCamelCase name: String) -> Bool? {
    var name = name
    return name.withUTF8 { isEqual(snake, UnsafeRawBufferPointer($0)) }
  }

  private static func isEqual(_ snake: UnsafeRawBufferPointer, _ camel: UnsafeRawBufferPointer) -> Bool? {
    let underscore = UInt8(ascii: "_")
    var (start, end) = (0, snake.count)
    while start < end, snake[start] == underscore { start += 1 }
    while end > start, snake[end - 1] == underscore { end -= 1 }
    var hasSeveralWords = false
    var index = start
    while index < end {
      if snake[index] >= 0x80 { return nil }
      if snake[index] == underscore { hasSeveralWords = true }
      index += 1
    }
    guard hasSeveralWords else { return snake.elementsEqual(camel) }
    var (place, isFirstWord, isAfterLetter) = (0, true, false)
    index = 0
    while index < snake.count {
      var byte = snake[index]
      if index >= start, index < end {
        if byte == underscore {
          (isFirstWord, isAfterLetter) = (false, false)
          index += 1
          continue
        }
        byte = isFirstWord || isAfterLetter ? lowercased(byte) : uppercased(byte)
        isAfterLetter = isLetter(byte)
      }
      guard place < camel.count, camel[place] == byte else { return false }
      place += 1
      index += 1
    }
    return place == camel.count
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
  }

  private static func uppercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte - 0x20 : byte
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte + 0x20 : byte
  }
}

extension String {
  /// The key to which `JSONDecoder` converts a snake-case key. Leading and trailing underscores are preserved.
  package var camelCased: String {
    let start = prefix { $0 == "_" }
    let end = dropFirst(start.count).reversed().prefix { $0 == "_" }
    let words = split(separator: "_")
    guard words.count > 1, let first = words.first else { return self }
    return start + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + String(end)
  }

  /// The snake-case key to which `JSONEncoder` converts a key. A word starts at an uppercase letter. In a sequence of
  /// uppercase letters, the last letter starts another word if a lowercase letter follows: `myURLPath` becomes
  /// `my_url_path`.
  var snakeCased: String {
    let letters = Array(self)
    var words: [ArraySlice<Character>] = []
    var (start, next) = (0, 1)
    while next < letters.count, let upper = letters[next...].firstIndex(where: \.isUppercase) {
      words.append(letters[start..<upper])
      start = upper
      guard let lower = letters[upper...].firstIndex(where: \.isLowercase) else { break }
      if lower > upper + 1 {
        words.append(letters[upper..<lower - 1])
        start = lower - 1
      }
      next = lower + 1
    }
    words.append(letters[start...])
    return words.map { String($0).lowercased() }.joined(separator: "_")
  }
}

extension Substring {
  /// The word with its letters in lowercase, except for the first letter and letters after a character that is not a
  /// letter.
  fileprivate var capitalized: String {
    var (text, isAfterLetter) = ("", false)
    for character in self {
      text += isAfterLetter ? character.lowercased() : character.uppercased()
      isAfterLetter = character.isLetter
    }
    return text
  }
}
