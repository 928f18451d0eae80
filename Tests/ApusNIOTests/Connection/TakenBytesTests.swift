import NIOCore
import Testing

@testable import ApusNIO

@Suite("Release of consumed bytes")
struct TakenBytesTests {
  @Test("A buffer that never becomes empty retains only unread bytes")
  func buffer() {
    var buffer = ByteBuffer(bytes: [1, 2, 3])
    var next: UInt8 = 4
    for _ in 0..<2000 {
      var piece = ByteBuffer(bytes: (0..<1000).map { _ in UInt8(7) } + [next])
      next &+= 1
      buffer.take(&piece)
      #expect(piece.readableBytes == 0)
      _ = buffer.readSlice(length: 1001)
      #expect(buffer.readableBytes == 3)
      #expect(buffer.capacity <= 16 << 10)
    }
    var empty = ByteBuffer()
    buffer.take(&empty)
    #expect(buffer.readableBytes == 3)
  }

  @Test("A content decoder does not retain coded bytes that it has decoded")
  func decoder() throws {
    let coded = compressed([UInt8](repeating: 7, count: 100_000), .gzip)
    let limits = CodingLimits(length: 1 << 40, ratio: 1 << 20, ratioAllowance: 1 << 40, chainLength: 1)
    let decoder = try #require(ContentDecoder([.gzip], limits: limits))
    var buffer = ByteBuffer()
    var count = 0
    // Decodes one gzip member after the other, each in pieces.
    for _ in 0..<500 {
      for start in stride(from: 0, to: coded.count, by: 50) {
        var piece = ByteBuffer(bytes: coded[start..<min(start + 50, coded.count)])
        buffer.take(&piece)
        while let content = try decoder.next(from: &buffer) { count += content.readableBytes }
        #expect(buffer.capacity <= 1024)
      }
    }
    #expect(count == 50_000_000)
  }
}
