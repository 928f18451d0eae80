import ApusTesting
import Foundation
import Synchronization
import Testing

@testable import ApusCore

@Suite("The nesting depth of models") struct JSONNestingTests {
  private struct Node: Decodable, Sendable { var children: [Node] }

  /// Whether a sanitizer makes stack frames larger; the address sanitizer makes them several times as large.
  private static let isSanitized = ProcessInfo.processInfo.environment["APUS_SANITIZER"] != nil

  private func nested(_ levels: Int) -> Data {
    let count = levels / 2
    return Data((String(repeating: #"{"children":["#, count: count) + String(repeating: "]}", count: count)).utf8)
  }

  private func refusal(of data: Data) -> JSONError? {
    do {
      _ = try JSONCoding.default.decode(Node.self, from: data)
      return nil
    } catch {
      return error as? JSONError
    }
  }

  @Test("Decoding a model that is nested too deeply fails with an error that reports the depth")
  func depth() async throws {
    #expect(refusal(of: nested(Self.isSanitized ? 32 : 128)) == nil)
    #expect(refusal(of: nested(130))?.reason == .tooDeep)
    if !Self.isSanitized { #expect(refusal(of: nested(130))?.offset == 64 * 13) }
    #expect(refusal(of: nested(2_000_000))?.reason == .tooDeep)
    let json = String(decoding: nested(400), as: UTF8.self)
    for request in [
      Request<Node>.get("/x"), .get("/x").at("children"), .get("/x").enveloped(EnvelopeFormat(code: "c")),
    ] {
      let api = client(answering: .json(json))
      let error = await failure { try await api.send(request) }
      #expect(error?.code == .decoding)
    }
    let error = await failure {
      try await client(answering: .json(json)).send(Request<Node>.get("/x"))
    }
    let underlying = error?.underlying as? JSONError
    #expect(underlying?.reason == .tooDeep)
    #expect(underlying?.offset == 832 || Self.isSanitized)
    #expect(error?.detail == "the content is not valid JSON (nested too deeply at byte \(underlying?.offset ?? 0))")
  }

  @Test("Brackets in JSON strings do not count as nesting")
  func strings() throws {
    let text = String(repeating: #"[{\"[\\"#, count: 200)
    let data = Data(#"{"children":[{"children":[],"x":"\#(text)"}]}"#.utf8)
    _ = try JSONCoding.default.decode(Node.self, from: data)
    let wide = Data(#"{"children":[\#(String(repeating: #"{"children":[]},"#, count: 500)){"children":[]}]}"#.utf8)
    #expect(try JSONCoding.default.decode(Node.self, from: wide).children.count == 501)
  }

  @Test("JSON in an encoding other than UTF-8 is refused, because its nesting cannot be checked")
  func otherEncodings() throws {
    for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32] {
      let data = try #require(#"{"children":[]}"#.data(using: encoding))
      #expect(refusal(of: data) == JSONError(.invalidUTF8, at: 0))
    }
    #expect(refusal(of: Data("\u{FEFF}{\"children\":[]}".utf8)) == nil)
  }

  @Test("JSON keys with very many combining marks are refused")
  func marks() {
    for marks in ["\u{301}\u{323}", #"\u0301\u0323"#] {
      let long = Data((#"{"children":[],"a"# + String(repeating: marks, count: 100_000) + #"":1}"#).utf8)
      #expect(refusal(of: long)?.reason == .tooManyCombiningMarks)
      let value = Data((#"{"children":[],"a":"b"# + String(repeating: marks, count: 2000) + #""}"#).utf8)
      #expect(refusal(of: value) == nil)
    }
  }

  // The stack size is half of the smallest default stack size of a thread (512 KiB, on Apple platforms), plus 32 KiB
  // for the thread itself.
  @Test("A model of the maximum depth is decoded on a stack of 288 KiB")
  func stack() {
    let data = nested(128)
    let isRead = Mutex(false)
    let isDone = DispatchSemaphore(value: 0)
    let thread = Thread {
      let node = try? JSONCoding.default.decode(Node.self, from: data)
      isRead.withLock { $0 = node != nil }
      isDone.signal()
    }
    thread.stackSize = (Self.isSanitized ? 8 : 1) * 288 << 10
    thread.start()
    isDone.wait()
    // Fewer levels may fit into the larger frames of the sanitizer.
    #expect(isRead.withLock { $0 } || Self.isSanitized)
  }
}
