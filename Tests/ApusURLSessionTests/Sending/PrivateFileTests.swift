import Foundation
import Testing

@testable import ApusURLSession

#if canImport(Glibc)
import Glibc
#endif

@Suite("Private temporary files")
final class PrivateFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "apus-private-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  private func mode(_ url: URL) -> mode_t? {
    var facts = stat()
    return lstat(url.path, &facts) == 0 ? facts.st_mode & 0o777 : nil
  }

  @Test("A private file is writable and accessible only to its owner")
  func owner() throws {
    let url = folder.appending(path: "a")
    let file = try #require(PrivateFile.create(at: url))
    try file.write(contentsOf: Data("content".utf8))
    try file.close()
    #expect(mode(url) == 0o600)
    #expect(try Data(contentsOf: url) == Data("content".utf8))
  }

  @Test("Creating a private file opens no existing file and follows no link")
  func foreign() throws {
    let (file, link, target) = (
      folder.appending(path: "a"), folder.appending(path: "b"), folder.appending(path: "target")
    )
    try Data("theirs".utf8).write(to: file)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    #expect(PrivateFile.create(at: file) == nil && PrivateFile.create(at: link) == nil)
    #expect(try Data(contentsOf: file) == Data("theirs".utf8))
    #expect(mode(target) == nil)
  }

  #if canImport(Glibc)
  @Test("A private file has its permissions from its creation, not set afterwards")
  func moment() throws {
    let watch = inotify_init1(Int32(O_NONBLOCK))
    defer { Glibc.close(watch) }
    try #require(inotify_add_watch(watch, folder.path, UInt32(IN_CREATE | IN_ATTRIB | IN_MOVED_TO)) >= 0)
    _ = try #require(PrivateFile.create(at: folder.appending(path: "a")))
    #expect(Self.events(of: watch) == [UInt32(IN_CREATE)])
  }

  /// Returns the kinds of the events that an inotify watch has reported.
  private static func events(of watch: Int32) -> [UInt32] {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(watch, &bytes, bytes.count)
    var events: [UInt32] = []
    var offset = 0
    // Each event consists of a descriptor, the kind, a cookie, and the length of the name that follows.
    while offset + 16 <= count {
      let words = bytes[offset..<offset + 16].withUnsafeBytes {
        $0.loadUnaligned(as: (UInt32, UInt32, UInt32, UInt32).self)
      }
      events.append(words.1)
      offset += 16 + Int(words.3)
    }
    return events
  }
  #endif
}
