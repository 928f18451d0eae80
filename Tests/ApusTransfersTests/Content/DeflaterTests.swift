import Foundation
import Testing

@testable import ApusTransfers

@Suite("Deflater")
struct DeflaterTests {
  @Test(
    "A piece longer than zlib's maximum input is encoded completely",
    arguments: [1, 7, 1000, 2999, 3000, 1 << 30])
  func longPieces(inputLength: Int) throws {
    let content = Data((0..<3000).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) })
    let deflater = try Deflater(level: 6, inputLength: inputLength)
    // The slice does not begin at the start of its buffer.
    let encoded = deflater.encode((Data([9]) + content).dropFirst()) + deflater.encode(Data()) + deflater.finish()
    #expect(try gunzipped(encoded) == content)
  }
}
