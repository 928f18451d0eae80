import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Files as content") struct ContentFileTests {
  /// Runs the work with a temporary directory, which is removed afterwards.
  private func inDirectory(_ work: (String) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/apus-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await work(directory)
  }

  @Test("File content has the file's length and the specified media type")
  func file() async throws {
    try await inDirectory { directory in
      let path = directory + "/a b é.bin"
      try Data(count: 12_345).write(to: URL(filePath: path))
      let file = try ContentFile(path: path)
      #expect(file.length == 12_345 && file.path == path)
      let message = try await builtMessage(Request<Void>.put("/x", content: .file(path, "image/png")))
      #expect(message.content.length == 12_345 && message.content.isReplayable && !message.content.isEmpty)
      #expect(message.head.headerFields.contains { $0.value == "image/png" })
    }
  }

  @Test("An empty file is content of zero bytes, and a symbolic link is resolved")
  func special() async throws {
    try await inDirectory { directory in
      try Data().write(to: URL(filePath: directory + "/empty"))
      #expect(try ContentFile(path: directory + "/empty").length == 0)
      try Data(count: 3).write(to: URL(filePath: directory + "/three"))
      try FileManager.default.createSymbolicLink(
        atPath: directory + "/link", withDestinationPath: directory + "/three")
      #expect(try ContentFile(path: directory + "/link").length == 3)
    }
  }

  @Test("A missing file or a directory cannot be sent; the error's detail contains the path, and the message does not")
  func faults() async throws {
    try await inDirectory { directory in
      try FileManager.default.createSymbolicLink(
        atPath: directory + "/dangling", withDestinationPath: directory + "/no")
      for (path, reason) in [
        (directory + "/missing", "there is no such file"), (directory, "it is not a regular file"),
        (directory + "/dangling", "it is not a regular file"), (directory + "/missing/x", "there is no such file"),
      ] {
        let error = await failure {
          try await builtMessage(Request<Void>.put("/x", content: .file(path)))
        }
        #expect(error?.code == .encoding)
        #expect(error?.detail == "the file \(path) cannot be sent: \(reason)")
        #expect(error?.message == "The data you entered could not be sent.")
        let fault = try #require(error?.underlying as? ContentFileError)
        #expect(fault == ContentFileError(path: path, reason: reason))
        #expect(fault.description == "the file \(path) cannot be sent: \(reason)")
      }
    }
  }
}
