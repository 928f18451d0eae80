/// The reason why bytes are not valid JSON (RFC 8259), and the offset of the fault. It does not contain the bytes.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason why the bytes are invalid.
  package enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The bytes end inside a value, or contain no value.
    case unexpectedEnd = "unexpected end"
    /// A byte that is not allowed at its position: a trailing comma, a missing quote, an unknown literal.
    case unexpectedByte = "unexpected byte"
    /// Bytes after the end of the value.
    case trailingBytes = "bytes after the value"
    /// A number that violates the grammar of §6, such as a number with a leading zero.
    case malformedNumber = "malformed number"
    /// An escape that §7 does not define.
    case malformedEscape = "malformed escape"
    /// A `\u` escape of one half of a surrogate pair without the other half.
    case loneSurrogate = "lone surrogate"
    /// An unescaped control character in a string.
    case controlCharacter = "control character in a string"
    /// Invalid UTF-8 (RFC 3629) in a string, or content in another encoding.
    case invalidUTF8 = "invalid UTF-8"
    /// More than 128 consecutive combining marks in a member's name, which would make comparing names too slow.
    case tooManyCombiningMarks = "too many combining marks in a name"
    /// Arrays and objects nested more deeply than ``JSONLimits/depth``, or a model nested more than 128 levels or so
    /// deeply that decoding it would need more than 256 KiB of the thread's stack.
    case tooDeep = "nested too deeply"
    /// More bytes than ``JSONLimits/bytes``, or than 512 MiB.
    case tooLarge = "too many bytes"
  }

  /// The reason why the bytes are invalid.
  package let reason: Reason
  /// The offset of the byte at which parsing stopped, from 0.
  public let offset: Int

  package init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// The reason and the offset, such as `malformed number at byte 17`.
  public var description: String { "\(reason.rawValue) at byte \(offset)" }

  /// Returns the line and the column of the error, both from 1. Columns count bytes.
  ///
  /// - Parameter bytes: the bytes that were parsed.
  public func position(in bytes: some Sequence<UInt8>) -> (line: Int, column: Int) {
    var (line, column) = (1, 1)
    for byte in bytes.prefix(offset) {
      if byte == UInt8(ascii: "\n") { (line, column) = (line + 1, 1) } else { column += 1 }
    }
    return (line, column)
  }
}

/// Limits for parsing JSON.
public struct JSONLimits: Sendable, Hashable {
  /// The maximum nesting depth of arrays and objects.
  public let depth: Int
  /// The maximum number of bytes. `nil`: the parser's limit, 512 MiB, which larger values do not raise.
  public let bytes: Int?

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - depth: the maximum nesting depth, clamped to 0...512. Default: 512 levels.
  ///   - bytes: the maximum number of bytes. Default: `nil`, the parser's limit, 512 MiB.
  public init(depth: Int = 512, bytes: Int? = nil) {
    self.depth = min(max(0, depth), Self.maximumDepth)
    self.bytes = bytes
  }

  /// The maximum nesting depth: 512 levels.
  ///
  /// Parsing uses no stack for nesting; deallocating a value of this depth uses about 120 KB, a quarter of the smallest
  /// supported stack of 512 KiB.
  package static let maximumDepth = 512
  /// The maximum nesting depth of models. The stack used for decoding them is limited as well (``StackBudget``).
  static let maximumModelDepth = 128
}
