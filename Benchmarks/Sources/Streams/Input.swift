import Foundation

/// Content (body) with lines of 200 bytes, in pieces as they arrive from a socket.
struct Input: Sendable {
  static let pieceSize = 64 << 10

  let pieces: [Data]
  /// The number of lines that are not blank.
  let lines: Int

  var count: Int { pieces.reduce(0) { $0 + $1.count } }

  /// Returns JSON values of 199 bytes, each with a line feed.
  static func ndjson(mebibytes: Int) -> Input {
    let start = #"{"id":1234567,"name":"Apus apus","text":""#
    let text = start + String(repeating: "x", count: 199 - start.utf8.count - 2) + #""}"#
    return Input(line: text + "\n", mebibytes: mebibytes)
  }

  /// Returns events whose data line has 200 bytes with its line feed.
  static func events(mebibytes: Int) -> Input {
    let start = #"data: {"id":1234567,"name":"Apus apus","text":""#
    let text = start + String(repeating: "x", count: 199 - start.utf8.count - 2) + #""}"#
    return Input(line: text + "\n\n", mebibytes: mebibytes)
  }

  private init(line: String, mebibytes: Int) {
    lines = (mebibytes << 20) / line.utf8.count
    let bytes = Data(String(repeating: line, count: lines).utf8)
    pieces = stride(from: 0, to: bytes.count, by: Self.pieceSize).map {
      // Each piece has separate storage, as if read from a socket.
      Data([UInt8](bytes[$0..<min($0 + Self.pieceSize, bytes.count)]))
    }
  }
}
