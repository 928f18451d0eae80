/// An error that says why bytes are not JSON (RFC 8259), and where. It holds none of the bytes.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Why bytes were refused.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The bytes end inside a value, or hold none.
    case unexpectedEnd = "unexpected end"
    /// A byte that cannot stand where it stands: a trailing comma, a missing quote, a word that is no literal.
    case unexpectedByte = "unexpected byte"
    /// Bytes after the end of the value.
    case trailingBytes = "bytes after the value"
    /// A number that breaks the grammar of §6, for example one with a leading zero.
    case malformedNumber = "malformed number"
    /// An escape that §7 does not know.
    case malformedEscape = "malformed escape"
    /// A `\u` escape of one half of a surrogate pair, without the other half.
    case loneSurrogate = "lone surrogate"
    /// A control character in a string that is not escaped.
    case controlCharacter = "control character in a string"
    /// Bytes in a string that are not UTF-8 (RFC 3629), or content in another encoding.
    case invalidUTF8 = "invalid UTF-8"
    /// More than 128 combining marks in a row in the name of a member; comparing names would take too long.
    case tooManyMarks = "too many combining marks in a name"
    /// More nested arrays and objects than ``JSONLimits/depth``.
    case tooDeep = "nested too deeply"
    /// More bytes than ``JSONLimits/bytes``.
    case tooLarge = "too many bytes"
  }

  /// Why the bytes were refused.
  public let reason: Reason
  /// The offset of the byte at which reading stopped, from 0.
  public let offset: Int

  /// Makes an error.
  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// The reason and the offset, for example `malformed number at byte 17`.
  public var description: String { "\(reason.rawValue) at byte \(offset)" }

  /// Returns the line and the column of the error, both from 1. A column counts bytes.
  ///
  /// - Parameter bytes: the bytes that were read.
  public func position(in bytes: some Sequence<UInt8>) -> (line: Int, column: Int) {
    var (line, column) = (1, 1)
    for byte in bytes.prefix(offset) {
      if byte == UInt8(ascii: "\n") { (line, column) = (line + 1, 1) } else { column += 1 }
    }
    return (line, column)
  }
}
