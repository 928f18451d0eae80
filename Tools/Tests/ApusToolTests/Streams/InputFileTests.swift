import Apus
import ApusNIO
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Reading small files")
final class InputFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  @Test("Files, pipes and devices are read to their end")
  func kinds() throws {
    let all = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
    try all.write(to: folder.appending(path: "a"))
    #expect(try InputFile.contents(path("a")) == all)
    #expect(try InputFile.contents("/dev/null") == Data())
    let pipe = path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    let thread = Thread { try? all.write(to: URL(filePath: pipe)) }
    thread.start()
    #expect(try InputFile.contents(pipe) == all)
  }

  @Test("A final newline is not part of a text")
  func text() throws {
    try Data("a\nb\r\n".utf8).write(to: folder.appending(path: "a"))
    #expect(try InputFile.text(path("a")) == "a\nb")
  }

  @Test("Unreadable files result in a reason, and endless files are not read forever")
  func unreadable() {
    #expect(throws: InputError(place: path("x"), number: ENOENT)) { try InputFile.contents(path("x")) }
    #expect(throws: InputError(place: folder.path, number: EISDIR)) { try InputFile.contents(folder.path) }
    #expect(throws: InputError(place: "/dev/zero", number: EFBIG)) { try InputFile.contents("/dev/zero") }
  }

  @Test("A pipe with certificate and key is read once")
  func identity() throws {
    var ends: [Int32] = [0, 0]
    let result = Foundation.pipe(&ends)
    try #require(result == 0)
    defer { close(ends[0]) }
    #expect(write(ends[1], "both", 4) == 4)
    close(ends[1])
    var plan = ConnectionPlan()
    plan.identity = ("/dev/fd/\(ends[0])", "/dev/fd/\(ends[0])")
    let files = try #require(try plan.identityFiles())
    #expect(files.certificates == Data("both".utf8))
    #expect(files.key == Data("both".utf8))
  }
}
