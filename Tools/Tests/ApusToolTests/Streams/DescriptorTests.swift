import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Reading and writing descriptors")
struct DescriptorTests {
  private func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    let result = Foundation.pipe(&ends)
    try #require(result == 0)
    return (ends[0], ends[1])
  }

  @Test("Pieces arrive as written, followed by the end")
  func reading() async throws {
    let pipe = try pipe()
    let reader = DescriptorReader(pipe.read, place: "pipe")
    let writer = DescriptorWriter(pipe.write, place: "pipe")
    try await writer.write(Data("one".utf8))
    #expect(try await reader.next() == Data("one".utf8))
    try await writer.writeToTheEnd(Data("two".utf8))
    #expect(try await reader.next() == Data("two".utf8))
    close(pipe.write)
    #expect(try await reader.next() == nil)
  }

  @Test("More bytes than a pipe can hold are written completely and in order")
  func large() async throws {
    let pipe = try pipe()
    let all = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
    async let written: Void = {
      try await DescriptorWriter(pipe.write, place: "pipe").write(all)
      close(pipe.write)
    }()
    let reader = DescriptorReader(pipe.read, place: "pipe")
    var got = Data()
    while let piece = try await reader.next() { got += piece }
    try await written
    #expect(got == all)
  }

  @Test("A cancelled task does not wait for a reader or a writer")
  func cancelling() async throws {
    let pipe = try pipe()
    let reader = DescriptorReader(pipe.read, place: "pipe")
    let reading = Task { try await reader.next() }
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
    let other = try self.pipe()
    let writer = DescriptorWriter(other.write, place: "pipe")
    let writing = Task { try await writer.write(Data(count: 1 << 20)) }
    writing.cancel()
    await #expect(throws: CancellationError.self) { try await writing.value }
    // Unblocks the waiting threads.
    close(pipe.write)
    close(other.read)
  }

  @Test("Failures are errors with the system's message")
  func failing() async throws {
    let reader = DescriptorReader(path: "/nowhere/pipe")
    await #expect(throws: InputError(place: "/nowhere/pipe", reason: "no such file or directory")) {
      try await reader.next()
    }
    await #expect(throws: OutputError(place: "nothing", number: EBADF)) {
      try await DescriptorWriter(-1, place: "nothing").write(Data([1]))
    }
  }
}
