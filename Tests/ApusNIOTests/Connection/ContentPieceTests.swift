import Foundation
import NIOCore
import Testing

@testable import ApusNIO

@Suite("Pieces of content to send")
struct ContentPieceTests {
  @Test("A piece longer than the maximum write is split", arguments: [1, 3, 9, 10, 11])
  func parts(length: Int) {
    // A slice that does not begin at the start of its memory.
    let data = Data(0..<12).dropFirst(2)
    let parts = ContentPiece.data(data).parts(of: length)
    #expect(parts.allSatisfy { $0.count > 0 && $0.count <= length })
    var buffer = ByteBuffer()
    for part in parts { part.write(to: &buffer) }
    #expect(Data(buffer.readableBytesView) == data)
    #expect(parts.count == (data.count + length - 1) / length)
  }
}
