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
    try file.commit()
    file.discard()
    #expect(names == ["a"])
    #expect(try text("a") == "new")
  }

  @Test("A previous file is kept when writing is abandoned")
  func giveUp() async throws {
    try Data("old".utf8).write(to: folder.appending(path: "a"))
    let file = try OutputFile(path("a"))
    try await file.writer.write(Data("new".utf8))
    file.discard()
    do { _ = try OutputFile(path("a")) }
    #expect(names == ["a"])
    #expect(try text("a") == "old")
  }

  private func mode(_ name: String) -> mode_t? {
    var facts = stat()
    return lstat(path(name), &facts) == 0 ? facts.st_mode & 0o7777 : nil
  }

  @Test(
    "A replaced file keeps its permissions, except set-user-ID and set-group-ID",
    arguments: [(0o600, 0o600), (0o640, 0o640), (0o4755, 0o755), (0o2755, 0o755)] as [(mode_t, mode_t)])
  func replace(old: mode_t, new: mode_t) async throws {
    try Data("old".utf8).write(to: folder.appending(path: "a"))
    chmod(path("a"), old)
    let file = try OutputFile(path("a")) { 0xAB }
    try await file.writer.write(Data("new".utf8))
    #expect(mode(".a.000000ab.part") == new)
    try file.commit()
    #expect(names == ["a"])
    #expect(try text("a") == "new" && mode("a") == new)
  }

  @Test("A link to a file or to a missing file is refused, and neither is changed")
  func links() throws {
    try Data("theirs".utf8).write(to: folder.appending(path: "a"))
    try FileManager.default.createSymbolicLink(atPath: path("b"), withDestinationPath: path("a"))
    try FileManager.default.createSymbolicLink(atPath: path("c"), withDestinationPath: path("d"))
    for name in ["b", "c"] {
      let error = #expect(throws: OutputError.self) { try OutputFile(path(name)) }
      #expect(error?.description.hasSuffix(": it is a link; use the name of the file itself.") == true)
    }
    #expect(names == ["a", "b", "c"])
    #expect(try text("a") == "theirs")
  }

  @Test("A link with the name of a new file is replaced, not followed")
  func lateLink() async throws {
    try Data("theirs".utf8).write(to: folder.appending(path: "a"))
    let file = try OutputFile(path("b"))
    try FileManager.default.createSymbolicLink(atPath: path("b"), withDestinationPath: path("a"))
    try await file.writer.write(Data("new".utf8))
    try file.commit()
    #expect(try text("a") == "theirs" && text("b") == "new")
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
    try file.commit()
    #expect(digits == 3)
    #expect(names == [".a.00000001.part", ".a.00000002.part", "a"])
    #expect(try text(".a.00000001.part") == "theirs")
    #expect(throws: OutputError(place: path("a"), number: EEXIST)) { try OutputFile(path("a")) { 1 } }
  }

  @Test("A pipe without a reader blocks no other task, and a cancelled task stops waiting")
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
    try file.commit()
  }

  @Test("Special files are written to directly, also by a link such as /dev/stdout")
  func device() async throws {
    try FileManager.default.createSymbolicLink(atPath: path("null"), withDestinationPath: "/dev/null")
    for path in ["/dev/null", path("null")] {
      let file = try OutputFile(path)
      try await file.writer.write(Data("new".utf8))
      try file.commit()
    }
    #expect(names == ["null"])
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
