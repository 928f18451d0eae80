import TestSupport
import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

@Suite("Huffman coding")
struct HuffmanTests {
  private func encoded(_ text: [UInt8]) -> [UInt8] {
    withExactCopy(of: text) { text in
      [UInt8](unsafeUninitializedCapacity: Huffman.shared.encodedCount(text)) { memory, count in
        count = Huffman.shared.encodedCount(text)
        Huffman.shared.encode(
          text, into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(memory)[..<count]))
      }
    }
  }

  private func decoded(_ bytes: [UInt8]) throws -> [UInt8] {
    let limit = Huffman.decodedLimit(bytes.count)
    return try withExactCopy(of: bytes) { bytes in
      try withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { memory in
        Array(memory[..<(try Huffman.shared.decode(bytes, into: memory))])
      }
    }
  }

  private func fault(_ bytes: [UInt8]) -> CompressionFault? {
    do {
      _ = try decoded(bytes)
      return nil
    } catch { return error as? CompressionFault }
  }

  @Test(
    "The example strings of RFC 7541 are encoded and decoded as in the RFC",
    arguments: [
      ("www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"), ("no-cache", "a8eb10649cbf"), ("custom-key", "25a849e95ba97d7f"),
      ("custom-value", "25a849e95bb8e8b4bf"), ("302", "6402"), ("private", "aec3771a4b"), ("", ""),
      ("Mon, 21 Oct 2013 20:13:21 GMT", "d07abe941054d444a8200595040b8166e082a62d1bff"),
      ("https://www.example.com", "9d29ad171863c78f0b97c8e9ae82ae43d3"), ("307", "640eff"), ("gzip", "9bd9ab"),
      (
        "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
        "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007"
      ),
    ])
  func examples(text: String, code: String) throws {
    #expect(encoded(Array(text.utf8)) == bytes(code))
    #expect(try decoded(bytes(code)) == Array(text.utf8))
  }

  @Test("Every byte survives encoding and decoding, alone, repeated and between other bytes")
  func allBytes() throws {
    for byte in UInt8.min...UInt8.max {
      for text in [[byte], [byte, byte, byte], [0x61, byte, 0x7A, byte, 0xFF]] {
        #expect(try decoded(encoded(text)) == text)
      }
    }
    let all = Array(UInt8.min...UInt8.max)
    #expect(try decoded(encoded(all)) == all)
  }

  @Test("Random text survives encoding and decoding")
  func random() throws {
    var generator = SeededGenerator(seed: 1)
    for length in 0..<300 {
      let text = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let plain = (0..<length).map { _ in UInt8.random(in: 0x20...0x7E, using: &generator) }
      #expect(try decoded(encoded(text)) == text)
      #expect(try decoded(encoded(plain)) == plain)
    }
  }

  @Test("Padding of up to seven one bits is accepted, and longer padding is a compression error")
  func longPadding() throws {
    // `0` has the code 00000.
    #expect(try decoded([0b0000_0111]) == Array("0".utf8))
    // `:` has seven bits, `&` eight, and `?` ten.
    #expect(try decoded(bytes("b9")) == Array(":".utf8))
    #expect(fault([0xFF]) == .longPadding)
    #expect(fault([0b0000_0111, 0xFF]) == .longPadding)
    #expect(fault([0xFF, 0xFF, 0xFF]) == .longPadding)
    for text in ["a", "&", "www.example.com", "\u{7F}"] {
      #expect(fault(encoded(Array(text.utf8)) + [0xFF]) == .longPadding)
    }
  }

  @Test("Padding that contains a zero bit is a compression error")
  func wrongPadding() {
    for padding: UInt8 in 0b000..<0b111 { #expect(fault([0b0000_0000 | padding]) == .wrongPadding) }
    #expect(fault(bytes("a8eb10649cbe")) == .wrongPadding)
    #expect(fault(bytes("6400")) != .longPadding)
  }

  @Test("A string that contains the EOS symbol is a compression error")
  func endOfString() {
    #expect(fault([0xFF, 0xFF, 0xFF, 0xFF]) == .endOfStringSymbol)
    #expect(fault([0b0000_0111, 0xFF, 0xFF, 0xFF, 0xFF]) == .endOfStringSymbol)
    #expect(fault([0xFF, 0xFF, 0xFF, 0xFC]) == .endOfStringSymbol)
  }

  @Test("Truncated Huffman-coded text causes no other error than a padding error")
  func cutCode() {
    let code = encoded([0x00, 0x0A, 0x0D, 0xF9])
    for end in 1..<code.count {
      if let fault = fault(Array(code[..<end])) { #expect(fault == .longPadding || fault == .wrongPadding) }
    }
  }
}
