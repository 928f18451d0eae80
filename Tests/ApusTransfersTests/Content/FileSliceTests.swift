import ApusCore
import Foundation
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Parts of a file for transports that read files")
struct FileSliceTests {
  /// Runs a test with a file whose bytes differ from each other, and with a part of the file.
  private func withPart(
    _ range: Range<Int64>, _ test: (_ path: String, _ bytes: Data, _ part: ContentStream) async throws -> Void
  ) async throws {
    try await DownloadBench.with { bench in
      let (path, bytes) = (bench.folder + "/film.mp4", FileOnServer(length: 900_000).bytes)
      try bytes.write(to: URL(filePath: path))
      let source = try await UploadSource(.file(try ContentFile(path: path)))
      guard case .stream(let part) = source.part(range) else {
        Issue.record("a part is not a stream")
        return
      }
      try await test(path, bytes, part)
    }
  }

  @Test("A part offers the same bytes as a range of the file and as pieces")
  func same() async throws {
    try await withPart(100_000..<800_001) { _, bytes, part in
      let slice = try #require(part.slice)
      #expect(slice.range == 100_000..<800_001 && part.length == 700_001)
      let open = try slice.open()
      var read = Data(count: slice.range.count)
      let count = read.withUnsafeMutableBytes { pread(open.descriptor, $0.baseAddress, $0.count, 100_000) }
      #expect(count == read.count && read == bytes[100_000..<800_001])
      try open.check()

      var collected = Data()
      let pieces = try part.makePieces()
      while let piece = try await pieces() { collected += piece }
      #expect(collected == read)
      #expect(try await slice.reduced(into: Data()) { $0 += $1 } == read)
    }
  }

  @Test("A changed file cannot be opened, and is reported as changed")
  func changed() async throws {
    try await withPart(0..<10) { path, bytes, part in
      let slice = try #require(part.slice)
      let open = try slice.open()
      try (bytes + [1]).write(to: URL(filePath: path), options: [])
      #expect(throws: ContentChanged.self) { try open.check() }
      #expect(throws: ContentChanged.self) { try slice.open() }
      await #expect(throws: ContentChanged.self) { try await slice.reduced(into: 0) { $0 += $1.count } }
    }
  }

  @Test("Reading fails if the file ends before the part, or changes after its last byte")
  func short() async throws {
    try await withPart(899_000..<900_000) { _, _, part in
      let slice = try #require(part.slice)
      let longer = FileSlice(range: 899_000..<900_001, open: slice.open)
      await #expect(throws: ContentChanged.self) { try await longer.reduced(into: 0) { $0 += $1.count } }
      let changing = FileSlice(range: slice.range) {
        let file = try slice.open()
        return OpenSlice(descriptor: file.descriptor, owner: Owner(file)) { throw ContentChanged() }
      }
      await #expect(throws: ContentChanged.self) { try await changing.reduced(into: 0) { $0 += $1.count } }
    }
  }

  private final class Owner: Sendable {
    let file: OpenSlice
    init(_ file: OpenSlice) { self.file = file }
  }

  @Test("A missing file fails with its reason")
  func gone() async throws {
    try await withPart(0..<10) { path, _, part in
      let slice = try #require(part.slice)
      try FileManager.default.removeItem(atPath: path)
      let error = #expect(throws: TransferError.self) { try slice.open() }
      #expect(error?.problem == .fileMissing)
    }
  }

  @Test("Parts of content that is not a file are not ranges of a file")
  func other() async throws {
    let source = try await UploadSource(.stream(ContentStream(length: 2, isReplayable: true) { { nil } }))
    guard case .stream(let part) = source.part(0..<1) else {
      Issue.record("a part is not a stream")
      return
    }
    #expect(part.slice == nil)
  }
}
