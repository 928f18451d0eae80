import HTTPTypes
import NIOCore
import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

@Suite("Content decoder")
struct ContentDecoderTests {
  static let text = Array(String(repeating: "It is a truth universally acknowledged. ", count: 100).utf8)

  /// Decodes bytes that arrive in pieces that end at `cuts`.
  private func decoded(
    _ bytes: [UInt8], _ chain: [ContentCoding], limits: CodingLimits = CodingLimits(), cuts: [Int] = []
  ) throws -> [UInt8] {
    let decoder = try #require(ContentDecoder(chain, limits: limits))
    var all: [UInt8] = []
    var start = 0
    for cut in cuts + [bytes.count] {
      var buffer = ByteBuffer(bytes: bytes[start..<cut])
      start = cut
      while let piece = try decoder.next(from: &buffer) {
        #expect(piece.readableBytes > 0 && piece.readableBytes <= ContentDecoder.pieceLength)
        all += piece.readableBytesView
      }
    }
    try decoder.finish()
    return all
  }

  private func kind(_ work: () throws -> [UInt8]) -> CodingError.Kind? {
    do {
      _ = try work()
      return nil
    } catch {
      return (error as? CodingError)?.kind
    }
  }

  @Test(
    "gzip, and deflate with or without a zlib wrapper, decode to the original however the input is cut",
    arguments: CodedFormat.allCases)
  func formats(format: CodedFormat) throws {
    let chain: [ContentCoding] = format == .gzip ? [.gzip] : [.deflate]
    for content in [Self.text, [], [7], Array(repeating: 0, count: 300_000)] {
      let bytes = compressed(content, format)
      #expect(try decoded(bytes, chain) == content)
      #expect(try decoded(bytes, chain, cuts: Array(0..<bytes.count)) == content)
    }
  }

  @Test("Several gzip members decode to one content")
  func members() throws {
    let bytes = compressed(Self.text, .gzip) + compressed([], .gzip) + compressed([1, 2, 3], .gzip)
    #expect(try decoded(bytes, [.gzip]) == Self.text + [1, 2, 3])
    #expect(try decoded(bytes, [.gzip], cuts: Array(0..<bytes.count)) == Self.text + [1, 2, 3])
  }

  @Test("Codings are decoded in the reverse of the order in which they were applied")
  func chain() throws {
    let bytes = compressed(compressed(compressed(Self.text, .zlib), .gzip), .raw)
    #expect(try decoded(bytes, [.deflate, .gzip, .deflate]) == Self.text)
    #expect(try decoded(bytes, [.deflate, .gzip, .deflate], cuts: Array(0..<bytes.count)) == Self.text)
    #expect(kind { try decoded(bytes, [.gzip, .deflate, .deflate]) } != nil)
  }

  @Test("Empty content is not an error", arguments: [[ContentCoding.gzip], [.deflate], [.gzip, .deflate]])
  func empty(chain: [ContentCoding]) throws {
    #expect(try decoded([], chain) == [])
  }

  @Test("Content truncated at any byte is an error", arguments: CodedFormat.allCases)
  func truncated(format: CodedFormat) {
    let chain: [ContentCoding] = format == .gzip ? [.gzip] : [.deflate]
    let bytes = compressed(Array("hello, hello, hello".utf8), format)
    for count in 1..<bytes.count {
      #expect(kind { try decoded(Array(bytes.prefix(count)), chain) } == .truncated, "\(count) of \(bytes.count)")
    }
  }

  @Test("A truncated inner coding is an error")
  func truncatedInside() {
    let bytes = compressed(Array(compressed(Self.text, .gzip).dropLast()), .gzip)
    #expect(kind { try decoded(bytes, [.gzip, .gzip]) } == .truncated)
  }

  @Test("Content that is not coded, or was altered, is an error")
  func malformed() throws {
    #expect(kind { try decoded(Array("{\"a\": 1}".utf8), [.gzip]) } == .malformed)
    var bytes = compressed(Self.text, .gzip)
    let last = try #require(bytes.indices.last)
    bytes[last - 5] ^= 1
    #expect(kind { try decoded(bytes, [.gzip]) } == .malformed)
    // A zlib stream that needs a preset dictionary.
    #expect(kind { try decoded([0x78, 0xBB, 0, 0, 0, 1, 0x4B], [.deflate]) } == .malformed)
  }

  @Test("The decoding ratio is limited for long content, but not for short content")
  func ratio() {
    let letters = compressed(Array(repeating: UInt8(ascii: "a"), count: 500_000), .gzip)
    #expect(kind { try decoded(letters, [.gzip]) } == nil)
    let bomb = compressed(Array(repeating: 0, count: 20 << 20), .gzip)
    #expect(kind { try decoded(bomb, [.gzip]) } == .ratioTooHigh)
    #expect(kind { try decoded(compressed(bomb, .gzip), [.gzip, .gzip]) } == .ratioTooHigh)
    var limits = CodingLimits()
    limits.ratio = .max
    #expect(kind { try decoded(bomb, [.gzip], limits: limits) } == nil)
  }

  @Test("Decoded content may reach the length limit but not exceed it")
  func length() {
    var limits = CodingLimits()
    limits.length = Int64(Self.text.count)
    let bytes = compressed(Self.text, .gzip)
    #expect(kind { try decoded(bytes, [.gzip], limits: limits) } == nil)
    limits.length -= 1
    #expect(kind { try decoded(bytes, [.gzip], limits: limits) } == .tooLarge)
    #expect(kind { try decoded(compressed(bytes, .gzip), [.gzip, .gzip], limits: limits) } == .tooLarge)
  }

  @Test(
    "The codings of several Content-Encoding fields apply in order",
    arguments: [
      ([], []), (["gzip"], [.gzip]), (["GZip , deflate"], [.gzip, .deflate]),
      (["x-gzip", "deflate"], [.gzip, .deflate]),
      (["identity"], []), (["identity, gzip,"], [.gzip]), (["br"], []), (["gzip, br"], []), ([""], []),
    ] as [([String], [ContentCoding])])
  func codings(values: [String], chain: [ContentCoding]) throws {
    let fields = HTTPFields(values.map { HTTPField(name: .contentEncoding, value: $0) })
    #expect(try ContentCoding.chain(of: fields, limits: CodingLimits()) == chain)
    #expect(try (ContentDecoder.decoder(for: fields) == nil) == chain.isEmpty)
  }

  @Test("Too many codings are refused, known or unknown, in one field or several")
  func chainLength() {
    for values in [["gzip,gzip,gzip,gzip,gzip,gzip"], ["gzip,gzip,gzip", "br,gzip,gzip"]] {
      let fields = HTTPFields(values.map { HTTPField(name: .contentEncoding, value: $0) })
      #expect { try ContentDecoder.decoder(for: fields) } throws: { ($0 as? CodingError)?.kind == .tooManyCodings }
    }
  }

  @Test("Decoding arbitrary bytes ends with content or an error", arguments: 0..<300 as Range<UInt64>)
  func garbage(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let format = CodedFormat.allCases[Int(seed % 3)]
    var bytes = compressed(Self.text, format)
    for _ in 0..<Int.random(in: 1...8, using: &random) {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    let chain: [ContentCoding] = format == .gzip ? [.gzip] : [.deflate]
    let cuts = (0..<5).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
    let whole = Result { try decoded(bytes, chain) }
    let cut = Result { try decoded(bytes, chain, cuts: cuts) }
    switch (whole, cut) {
    case (.success(let whole), .success(let cut)): #expect(whole == cut)
    case (.failure, .failure): break
    default: Issue.record("the cuts \(cuts) make a difference")
    }
  }
}
