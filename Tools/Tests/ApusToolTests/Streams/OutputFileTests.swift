import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Writing files")
final class OutputFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "output-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

  @Test("A file gets its name only when it is complete")
  func keep() async throws {
    let file = try OutputFile(path("a")) { 0xAB }
    try await file.writer.write(Data("new".utf8))
    #expect(names == [".a.000000ab.part"])
    try file.keep()
    file.giveUp()
    #expect(names == ["a"])
    #expect(try text("a") == "new")
  }

  @Test("A previous file is kept when writing is abandoned")
  func giveUp() async throws {
    try Data("old".utf8).write(to: folder.appending(path: "a"))
    let file = try OutputFile(path("a"))
    try await file.writer.write(Data("new".utf8))
    file.giveUp()
    do { _ = try OutputFile(path("a")) }
    #expect(names == ["a"])
    #expect(try text("a") == "old")
  }

  @Test("A replaced file keeps its mode, and links lead to the new file")
  func replace() async throws {
    try Data("old".utf8).write(to: folder.appending(path: "a"))
    chmod(path("a"), 0o600)
    try FileManager.default.createSymbolicLink(atPath: path("b"), withDestinationPath: path("a"))
    let file = try OutputFile(path("b"))
    try await file.writer.write(Data("new".utf8))
    try file.keep()
    #expect(names == ["a", "b"])
    #expect(try text("a") == "new")
    var facts = stat()
    #expect(lstat(path("b"), &facts) == 0 && facts.st_mode & S_IFMT == S_IFLNK)
    #expect(stat(path("a"), &facts) == 0 && facts.st_mode & 0o777 == 0o600)
  }

  @Test("Existing files and links with the temporary name are not used")
  func foreign() async throws {
    try Data("theirs".utf8).write(to: folder.appending(path: ".a.00000001.part"))
    try FileManager.default.createSymbolicLink(atPath: path(".a.00000002.part"), withDestinationPath: path("b"))
    var digits: UInt32 = 0
    let file = try OutputFile(path("a")) {
      digits += 1
      return digits
    }
    try await file.writer.write(Data("new".utf8))
    try file.keep()
    #expect(digits == 3)
    #expect(names == [".a.00000001.part", ".a.00000002.part", "a"])
    #expect(try text(".a.00000001.part") == "theirs")
    #expect(throws: OutputError(place: path("a"), number: EEXIST)) { try OutputFile(path("a")) { 1 } }
  }

  @Test("A pipe without a reader blocks no other task, and a cancelled task does not wait")
  func fifo() async throws {
    let pipe = path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    let waiting = Task { try await OutputFile.opened(pipe) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    async let reading = DescriptorReader(path: pipe).next()
    let file = try await OutputFile.opened(pipe)
    try await file.writer.write(Data("new".utf8))
    #expect(try await reading == Data("new".utf8))
    try file.keep()
  }

  @Test("Files that are not regular are written to directly")
  func device() async throws {
    let file = try OutputFile("/dev/null")
    try await file.writer.write(Data("new".utf8))
    try file.keep()
  }

  @Test("An unwritable file is an error immediately")
  func unwritable() {
    #expect(throws: OutputError(place: folder.path, number: EISDIR)) { try OutputFile(folder.path) }
    #expect(throws: OutputError(place: path("x/y"), number: ENOENT)) { try OutputFile(path("x/y")) }
    #expect(throws: OutputError(place: path("x") + "/", number: EISDIR)) { try OutputFile(path("x") + "/") }
    #expect(throws: OutputError.self) { try OutputFile("") }
    #expect(names == [])
  }
}
