import ApusTestServer
import Foundation
import Testing

@testable import ApusURLSession

@Suite("Outgoing pieces")
struct OutgoingPiecesTests {
  /// Reads all pieces on a dedicated thread, because reading blocks the thread. `isWhole` is `false` if the content is
  /// incomplete.
  private func read(_ pieces: OutgoingPieces, by size: Int) async -> (content: Data, isWhole: Bool) {
    await withCheckedContinuation { done in
      Thread.detachNewThread {
        var content = Data()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { buffer.deallocate() }
        while let count = pieces.read(into: buffer) {
          guard count > 0 else { return done.resume(returning: (content, true)) }
          content.append(contentsOf: buffer[..<count])
        }
        done.resume(returning: (content, false))
      }
    }
  }

  @Test("Pieces are read completely and in order, however small the reader's buffer is", arguments: [1, 3, 1000])
  func order(size: Int) async {
    let pieces = OutgoingPieces()
    async let result = read(pieces, by: size)
    for number: UInt8 in 1...20 {
      let isWanted = await pieces.offer(Data(repeating: number, count: Int(number)))
      #expect(isWanted)
    }
    #expect(await pieces.offer(Data()))
    pieces.complete()
    let (content, isWhole) = await result
    #expect(isWhole)
    #expect(content == Data((1...20).flatMap { [UInt8](repeating: $0, count: Int($0)) }))
  }

  @Test("Closing resumes the producer, and the reader finds the content incomplete")
  func closing() async {
    let pieces = OutgoingPieces()
    async let offered = pieces.offer(Data([1, 2, 3]))
    pieces.close()
    _ = await offered
    #expect(await !pieces.offer(Data([4])))
    let (_, isWhole) = await read(pieces, by: 10)
    #expect(!isWhole)
  }

  @Test("Closing unblocks a reader that waits for a piece")
  func closingWhileReading() async {
    let pieces = OutgoingPieces()
    async let result = read(pieces, by: 10)
    pieces.close()
    #expect(await !result.isWhole)
  }
}
