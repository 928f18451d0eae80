import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Splitting input into lines")
struct LineSplitterTests {
  private func lines(_ text: String, by size: Int = .max, limit: Int = 100) -> [String?] {
    var splitter = LineSplitter(limit: limit)
    var lines: [LineSplitter.Line] = []
    var rest = Data(text.utf8)
    while !rest.isEmpty {
      lines += splitter.split(rest.prefix(size))
      rest = rest.dropFirst(size)
    }
    if let last = splitter.finish() { lines.append(last) }
    return lines.map { line in
      if case .text(let bytes) = line { String(decoding: bytes, as: UTF8.self) } else { nil }
    }
  }

  @Test("Lines are split in the same way for any size of pieces", arguments: 1...9)
  func pieces(size: Int) {
    #expect(lines("ab\n\ncde\r\n \t\nf", by: size) == ["ab", "cde\r", "f"])
  }

  @Test("A line above the limit is reported, and later lines are read", arguments: [1, 3, 100])
  func tooLong(size: Int) {
    #expect(lines("abcd\nabcde\nab\nabcdefghijk", by: size, limit: 4) == ["abcd", nil, "ab", nil])
  }
}
