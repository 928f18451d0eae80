import ApusTesting
import TestSupport
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Fuzz: multipart content") struct MultipartFuzzTests {
  private static let tokens: [[UInt8]] =
    [
      "--B", "\r\n--B\r\n", "\r\n--B--", "\r\n", "\r", "\n", "--", "-", "B", "\r\n\r\n", "Content-Type: a/b", "X-A: 1",
      ":", " ", "\t", "content of a part", "é", "\0",
    ].map { Array($0.utf8) } + [[0xFF], [0xC3]]

  private static func parts(of pieces: [Data]) -> [String] {
    var found: [String] = []
    do {
      var parser = try MultipartParser(boundary: "B", limit: 40)
      func take() throws {
        while let part = try parser.next() { found.append("\(part.fields.count) fields, \(Array(part.content))") }
      }
      for piece in pieces {
        parser.feed(piece)
        try take()
      }
      parser.finish()
      try take()
      found.append("end")
    } catch {
      found.append("\(error)")
    }
    return found
  }

  @Test("Multipart content in random pieces is parsed into the same parts as in one piece", arguments: 0..<8)
  func anyPieces(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<fuzzRounds(usually: 200) {
      let tokens = (0..<Int.random(in: 0...20, using: &generator)).flatMap { _ in
        Self.tokens.randomElement(using: &generator) ?? []
      }
      let content = Array("--B\r\n\r\n".utf8) + tokens
      var (pieces, rest) = ([Data](), content[...])
      while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 1...30, using: &generator))
        pieces.append(Data(exactCopyOf: piece))
        rest = rest.dropFirst(piece.count)
      }
      let expected = Self.parts(of: [Data(exactCopyOf: content)])
      #expect(Self.parts(of: pieces) == expected, "seed \(seed), round \(round): \(content)")
    }
  }
}
