import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Splitting content into lines")
struct LineSplitterTests {
  private func lines(_ pieces: [Data], _ ending: LineSplitter.Ending, limit: Int = 1 << 20) throws -> [String] {
    var splitter = LineSplitter(ending, limit: limit)
    var lines: [String] = []
    let add = { (line: UnsafeRawBufferPointer) in lines.append(String(decoding: line, as: UTF8.self)) }
    for piece in pieces where !piece.isEmpty {
      splitter.feed(piece)
      while try splitter.nextBlock(add) {}
    }
    splitter.rest(add)
    return lines
  }

  @Test(
    "Lines end with CR, LF or CRLF in the mode any, and only with LF in the mode lineFeed",
    arguments: [
      ("", [], []), ("a", ["a"], ["a"]), ("a\n", ["a"], ["a"]), ("\n", [""], [""]), ("\n\n", ["", ""], ["", ""]),
      ("a\rb", ["a", "b"], ["a\rb"]), ("a\r\nb\r\n", ["a", "b"], ["a\r", "b\r"]),
      ("\r\n\r\n", ["", ""], ["\r", "\r"]),
      ("a\r\rb", ["a", "", "b"], ["a\r\rb"]), ("a\n\rb", ["a", "", "b"], ["a", "\rb"]),
      ("\r\r\n\n", ["", "", ""], ["\r\r", ""]), ("a\r", ["a"], ["a\r"]),
    ] as [(String, [String], [String])])
  func lineEnds(content: String, any: [String], lineFeed: [String]) throws {
    let content = Data(content.utf8)
    for index in 0...content.count {
      let pieces = [content.prefix(index), content.dropFirst(index)]
      #expect(try lines(pieces, .any) == any, "split at \(index)")
      #expect(try lines(pieces, .lineFeed) == lineFeed, "split at \(index)")
    }
    #expect(try lines(content.map { Data([$0]) }, .any) == any)
  }

  @Test(
    "A line end is found at every offset and after similar bytes",
    arguments: [0x00, 0x09, 0x0B, 0x7F, 0x8A, 0x8D, 0xFF])
  func offsets(filler: UInt8) throws {
    for length in 0..<100 {
      for end in [ByteSearch.lineFeed, ByteSearch.carriageReturn] {
        let bytes = [UInt8](repeating: filler, count: length) + [end] + [UInt8](repeating: filler, count: 40)
        bytes.withUnsafeBytes { bytes in
          #expect(ByteSearch.lineEnd(in: bytes, from: 0) == length)
          #expect(ByteSearch.first(end, in: bytes, from: 0) == length)
          #expect(ByteSearch.lineEnd(in: bytes, from: length + 1) == bytes.count)
          #expect(ByteSearch.first(end, in: bytes, from: length + 1) == bytes.count)
        }
      }
    }
  }

  @Test("A line that spans several blocks and pieces is joined")
  func longLines() throws {
    let line = String(repeating: "x", count: 3 * LineSplitter.blockSize + 5)
    #expect(try lines([Data((line + "\r\n" + line).utf8)], .any) == [line, line])
    #expect(try lines([Data(line.utf8), Data(line.utf8)], .any) == [line + line])
  }

  @Test("A piece that is a slice of larger content is read from the start of the slice")
  func slices() throws {
    let content = Data("xx\na\nb\nyy".utf8)
    #expect(try lines([content[3..<7]], .any) == ["a", "b"])
  }

  @Test(
    "The line limit counts the bytes of a line without its line end",
    arguments: [["abcde\n"], ["abc", "de\n"], ["a", "b", "c", "d", "e", "\r\n"]])
  func limit(pieces: [String]) throws {
    let pieces = pieces.map { Data($0.utf8) }
    #expect(try lines(pieces, .any, limit: 5) == ["abcde"])
    #expect(throws: ElementTooLong(element: "a line", limit: 4)) { try lines(pieces, .any, limit: 4) }
  }
}
