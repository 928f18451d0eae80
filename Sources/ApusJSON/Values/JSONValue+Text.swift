extension JSONValue: CustomStringConvertible {
  /// The value as JSON; see ``utf8()``.
  public var description: String { String(decoding: utf8(), as: UTF8.self) }

  /// Returns the value as JSON in UTF-8, without white space and with the members of objects sorted by name.
  ///
  /// Numbers are written as they were parsed. Equal values yield the same bytes, unless they contain equal numbers that
  /// were written differently.
  public func utf8() -> [UInt8] {
    var text = JSONText(capacity: 64)
    text.append(json: self)
    return Array(text.all)
  }
}

extension JSONText {
  private enum Piece {
    case value(JSONValue)
    case name(String)
    case byte(Unicode.Scalar)
  }

  /// Appends a value with an explicit stack instead of recursion, so that values of any depth can be written on a
  /// thread with a small stack.
  mutating func append(json value: JSONValue) {
    var pieces: [Piece] = [.value(value)]
    while let piece = pieces.popLast() {
      switch piece {
      case .byte(let byte): append(UInt8(ascii: byte))
      case .name(let name):
        append(quoted: name)
        append(UInt8(ascii: ":"))
      case .value(.null): append("null")
      case .value(.bool(let value)): append(value ? "true" : "false")
      case .value(.number(let number)): append(unquoted: number.description)
      case .value(.string(let text)): append(quoted: text)
      case .value(.array(let elements)):
        append(UInt8(ascii: "["))
        pieces.append(.byte("]"))
        // Appended in reverse order, because the pieces are a stack.
        for (index, element) in elements.enumerated().reversed() {
          pieces.append(.value(element))
          if index > 0 { pieces.append(.byte(",")) }
        }
      case .value(.object(let members)):
        append(UInt8(ascii: "{"))
        pieces.append(.byte("}"))
        for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated().reversed() {
          pieces.append(.value(member.value))
          pieces.append(.name(member.key))
          if index > 0 { pieces.append(.byte(",")) }
        }
      }
    }
  }
}
