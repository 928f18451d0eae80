extension JSONValue: CustomStringConvertible {
  /// The value as JSON; see ``utf8()``.
  public var description: String { String(decoding: utf8(), as: UTF8.self) }

  /// Returns the value as JSON in UTF-8, without white space and with the members of objects sorted by name.
  ///
  /// Numbers are written as they were parsed. Equal values yield the same bytes, unless they contain equal numbers that
  /// were written differently.
  public func utf8() -> [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.bytes
  }
}

/// A writer of JSON. It keeps its own stack, so that values of any depth can be written on a thread with a small stack.
struct JSONWriter {
  private enum Piece {
    case value(JSONValue)
    case name(String)
    case byte(Unicode.Scalar)
  }

  private(set) var bytes: [UInt8] = []

  mutating func write(_ value: JSONValue) {
    var pieces: [Piece] = [.value(value)]
    while let piece = pieces.popLast() {
      switch piece {
      case .byte(let byte): bytes.append(UInt8(ascii: byte))
      case .name(let name):
        quote(name)
        bytes.append(UInt8(ascii: ":"))
      case .value(.null): bytes.append(contentsOf: "null".utf8)
      case .value(.bool(let value)): bytes.append(contentsOf: (value ? "true" : "false").utf8)
      case .value(.number(let number)): bytes.append(contentsOf: number.description.utf8)
      case .value(.string(let text)): quote(text)
      case .value(.array(let elements)):
        bytes.append(UInt8(ascii: "["))
        pieces.append(.byte("]"))
        // In reverse: the pieces are a stack.
        for (index, element) in elements.enumerated().reversed() {
          pieces.append(.value(element))
          if index > 0 { pieces.append(.byte(",")) }
        }
      case .value(.object(let members)):
        bytes.append(UInt8(ascii: "{"))
        pieces.append(.byte("}"))
        for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated().reversed() {
          pieces.append(.value(member.value))
          pieces.append(.name(member.key))
          if index > 0 { pieces.append(.byte(",")) }
        }
      }
    }
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case 0x08: bytes.append(contentsOf: #"\b"#.utf8)
      case 0x0C: bytes.append(contentsOf: #"\f"#.utf8)
      case 0x0A: bytes.append(contentsOf: #"\n"#.utf8)
      case 0x0D: bytes.append(contentsOf: #"\r"#.utf8)
      case 0x09: bytes.append(contentsOf: #"\t"#.utf8)
      case 0..<0x20:
        bytes.append(contentsOf: #"\u00"#.utf8)
        for digit in [byte >> 4, byte & 0xF] {
          bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
