#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Splits bytes that arrive in pieces into lines.
///
/// A line above the limit is not stored in memory and becomes ``Line/tooLong``.
struct LineSplitter: Sendable {
  /// A line of the input.
  enum Line: Sendable, Hashable {
    /// The line without its newline; never empty or blank.
    case text(Data)
    case tooLong
  }

  private let limit: Int
  private var rest = Data()
  private var isSkipping = false

  /// - Parameter limit: the maximum length of a line in bytes. Default: 256 MiB.
  init(limit: Int = 256 << 20) {
    self.limit = limit
  }

  /// Returns the lines that end in the next piece.
  mutating func split(_ piece: Data) -> [Line] {
    var lines: [Line] = []
    var start = piece.startIndex
    while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
      append(piece[start..<end])
      if let line = take() { lines.append(line) }
      start = piece.index(after: end)
    }
    append(piece[start...])
    return lines
  }

  /// Returns the last line if it has no newline.
  mutating func finish() -> Line? { take() }

  private mutating func append(_ bytes: Data) {
    guard !isSkipping else { return }
    guard rest.count + bytes.count <= limit else {
      rest = Data()
      isSkipping = true
      return
    }
    rest.append(bytes)
  }

  private mutating func take() -> Line? {
    defer {
      rest = Data()
      isSkipping = false
    }
    if isSkipping { return .tooLong }
    let isBlank = rest.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
    return isBlank ? nil : .text(rest)
  }
}
