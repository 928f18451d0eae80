import ApusTesting
import Foundation
import Testing

@testable import ApusAWS

@Suite("Checksums")
struct ChecksumTests {
  private func text(_ algorithm: ChecksumAlgorithm, _ data: Data, pieces: Int = .max) -> String {
    var checksum = Checksum(algorithm)
    var left = data[...]
    while !left.isEmpty {
      checksum.update(left.prefix(pieces))
      left = left.dropFirst(pieces)
    }
    return checksum.bytes.map { String(format: "%02x", $0) }.joined()
  }

  @Test("Known inputs have the expected checksums")
  func known() {
    let digits = Data("123456789".utf8)
    let zeros = Data(count: 32)
    let rows: [(ChecksumAlgorithm, Data, String)] = [
      (.crc32, Data(), "00000000"), (.crc32, digits, "cbf43926"), (.crc32, zeros, "190a55ad"),
      (.crc32c, Data(), "00000000"), (.crc32c, digits, "e3069283"), (.crc32c, zeros, "8a9136aa"),
      (.crc64nvme, Data(), "0000000000000000"), (.crc64nvme, digits, "ae8b14860a799888"),
      (.crc64nvme, zeros, "cf3473434d4ecf3b"),
      (.sha1, Data("abc".utf8), "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (.sha256, Data("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ]
    for (algorithm, data, expected) in rows { #expect(text(algorithm, data) == expected, "\(algorithm)") }
    #expect(text(.crc32c, Data(repeating: 0xFF, count: 32)) == "62a8ab43")
    #expect(text(.crc32c, Data(0..<32)) == "46dd794e")
  }

  @Test(
    "Pieces of any length result in the checksum of the whole input, at any alignment",
    arguments: ChecksumAlgorithm.allCases)
  func pieces(algorithm: ChecksumAlgorithm) {
    let data = Data((0..<200).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) })
    let whole = text(algorithm, data)
    for length in [1, 3, 7, 8, 15, 16, 17, 31, 33, 64] { #expect(text(algorithm, data, pieces: length) == whole) }
    #expect(text(algorithm, (Data([1, 2, 3]) + data).dropFirst(3)) == whole)
  }

  @Test("Folding, tables and bitwise computation yield the same CRC, up to 4,500 bytes at different alignments")
  func folded() {
    compare(0x9A6C_9329_AC4B_C9B5 as UInt64)
    compare(0x82F6_3B78 as UInt32)
    compare(0xEDB8_8320 as UInt32)
  }

  private func compare<Register: FixedWidthInteger & UnsignedInteger & Sendable>(_ polynomial: Register) {
    let (folding, tables) = (CRCTable(polynomial: polynomial), CRCTable(polynomial: polynomial, canFold: false))
    var random = SeededGenerator(seed: 64)
    let bytes = (0..<5000).map { _ in UInt8.random(in: 0...255, using: &random) }
    bytes.withUnsafeBytes { bytes in
      for length in Array(0...400) + [1023, 1024, 4096, 4500] {
        let start = length % 17
        let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
        let register = Register.random(in: 0...Register.max, using: &random)
        let expected = Self.bitwise(piece, register, polynomial)
        #expect(folding.update(register, with: piece) == expected, "\(length) bytes")
        #expect(tables.update(register, with: piece) == expected, "\(length) bytes")
      }
    }
  }

  private static func bitwise<Register: FixedWidthInteger>(
    _ bytes: UnsafeRawBufferPointer, _ register: Register, _ polynomial: Register
  ) -> Register {
    bytes.reduce(register) { register, byte in
      (0..<8).reduce(register ^ Register(byte)) { register, _ in
        register & 1 == 1 ? register >> 1 ^ polynomial : register >> 1
      }
    }
  }

  @Test("Each algorithm states the length of its checksum, and CRC-64/NVME has the expected field name")
  func names() {
    for algorithm in ChecksumAlgorithm.allCases {
      #expect(Checksum(algorithm).bytes.count == algorithm.length)
      #expect(Checksum(algorithm).text.utf8.count == algorithm.textLength)
    }
    #expect(ChecksumAlgorithm.crc64nvme.fieldName == "x-amz-checksum-crc64nvme")
  }
}
