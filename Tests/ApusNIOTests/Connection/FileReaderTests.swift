import ApusCore
import Foundation
import NIOCore
import Testing

@testable import ApusNIO

@Suite("Reading files in pieces")
struct FileReaderTests {
  private struct Changed: Error {}

  /// Runs a test with a file of 2,000,000 bytes.
  private func withFile(_ test: (_ url: URL, _ bytes: Data) async throws -> Void) async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "read-\(UUID())")
    defer { try? FileManager.default.removeItem(at: url) }
    let bytes = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 167 >> 3) })
    try bytes.write(to: url)
    try await test(url, bytes)
  }

  private func slice(_ range: Range<Int64>, of url: URL, check: @escaping @Sendable () throws -> Void) -> FileSlice {
    FileSlice(range: range) {
      let file = try FileSlice(try ContentFile(path: url.path)).open()
      return OpenSlice(descriptor: file.descriptor, owner: Holder(file), check: check)
    }
  }

  private final class Holder: Sendable {
    let file: OpenSlice
    init(_ file: OpenSlice) { self.file = file }
  }

  private func collected(_ reader: FileReader) async throws -> ByteBuffer {
    var all = ByteBuffer()
    while var piece = try await reader.next() { all.writeBuffer(&piece) }
    return all
  }

  @Test("A whole file is read from start to end, and so is a range of it")
  func ranges() async throws {
    try await withFile { url, bytes in
      let whole = try await FileReader.open(FileSlice(try ContentFile(path: url.path)))
      #expect(try await collected(whole) == ByteBuffer(bytes: bytes))
      for range in [0..<1, 1..<524_288, 524_287..<1_572_865, 1_999_999..<2_000_000] as [Range<Int64>] {
        let part = try await FileReader.open(slice(range, of: url) {})
        #expect(try await collected(part) == ByteBuffer(bytes: bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
      }
    }
  }

  @Test("Pieces that are still being sent do not change while later pieces are read")
  func held() async throws {
    try await withFile { url, bytes in
      let reader = try await FileReader.open(FileSlice(try ContentFile(path: url.path)))
      var pieces: [ByteBuffer] = []
      while let piece = try await reader.next() { pieces.append(piece) }
      #expect(pieces.count == 4 && pieces.reduce(into: Data()) { $0 += $1.readableBytesView } == bytes)
    }
  }

  @Test("A file that changes while it is read fails before its last piece is delivered")
  func changed() async throws {
    try await withFile { url, _ in
      let reader = try await FileReader.open(slice(0..<1_000_000, of: url) { throw Changed() })
      #expect(try await reader.next()?.readableBytes == 524_288)
      await #expect(throws: Changed.self) { try await reader.next() }
    }
  }

  @Test("A file that is truncated while it is read fails with the same error as a changed file")
  func shortened() async throws {
    try await withFile { url, _ in
      let reader = try await FileReader.open(slice(1_999_000..<2_001_000, of: url) { throw Changed() })
      #expect(try await reader.next()?.readableBytes == 1000)
      await #expect(throws: Changed.self) { try await reader.next() }
    }
  }
}
