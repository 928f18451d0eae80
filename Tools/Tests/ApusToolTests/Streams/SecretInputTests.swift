import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Reading secrets")
struct SecretInputTests {
  /// Reads a secret from input that arrives in pieces and then ends.
  private func secret(_ pieces: [String]) async throws -> Secret {
    var ends: [Int32] = [0, 0]
    let result = Foundation.pipe(&ends)
    try #require(result == 0)
    let (read, write) = (ends[0], ends[1])
    defer { close(read) }
    let writer = DescriptorWriter(write, place: "pipe")
    async let written: Void = {
      for piece in pieces { try await writer.write(Data(piece.utf8)) }
      close(write)
    }()
    let secret = try await SecretInput(read, place: "pipe").read(prompt: "never", messages: writer)
    try await written
    return secret
  }

  @Test(
    "The secret is the first line, whatever the pieces in which it arrives",
    arguments: [
      (["secret"], "secret"), (["secret\n"], "secret"), (["se", "cret\r", "\nmore\n"], "secret"),
      (["sec\rret\n"], "sec\rret"), ([" secret \n"], " secret "), (["s\u{FC}", "ß\n"], "s\u{FC}ß"),
    ])
  func line(pieces: [String], secret: String) async throws {
    #expect(try await self.secret(pieces) == Secret(secret))
  }

  @Test("An empty line is not a secret", arguments: ["", "\n", "\r\n", "\nsecret\n"])
  func empty(text: String) async throws {
    await #expect(throws: InputError(place: "pipe", reason: "its first line is empty")) {
      try await secret([text])
    }
  }

  @Test("An endless file is not read forever, and binary files are rejected")
  func files() async throws {
    let messages = DescriptorWriter(-1, place: "nothing")
    await #expect(throws: InputError(place: "/dev/zero", reason: "its first line is too long")) {
      try await SecretInput(path: "/dev/zero").read(prompt: "", messages: messages)
    }
    await #expect(throws: InputError(place: "/nowhere/x", number: ENOENT)) {
      try await SecretInput(path: "/nowhere/x").read(prompt: "", messages: messages)
    }
    let file = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID())")
    try Data([0x61, 0xFF, 0x0A]).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    await #expect(throws: InputError(place: file.path, reason: "its first line is not UTF-8")) {
      try await SecretInput(path: file.path).read(prompt: "", messages: messages)
    }
  }

  @Test("A pipe is not treated as a terminal")
  func pipe() throws {
    var ends: [Int32] = [0, 0]
    let result = Foundation.pipe(&ends)
    try #require(result == 0)
    defer { for end in ends { close(end) } }
    let isTerminal = try SilentTerminal(ends[0], place: "pipe") != nil
    #expect(!isTerminal)
  }
}
