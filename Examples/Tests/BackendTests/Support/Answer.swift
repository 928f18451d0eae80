import Foundation

/// A response.
struct Answer: Sendable {
  let status: Int
  private let fields: [String: String]
  var content: [UInt8] = []

  init(head: String) throws {
    let lines = head.split(separator: "\r\n")
    guard let first = lines.first, first.hasPrefix("HTTP/1.1 "), let status = Int(first.dropFirst(9).prefix(3)) else {
      throw Wire.Closed()
    }
    self.status = status
    fields = Dictionary(
      lines.dropFirst().compactMap { line -> (String, String)? in
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        return (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
      }, uniquingKeysWith: { $0 + ", " + $1 })
  }

  /// Returns a field by its name in lower case.
  subscript(field: String) -> String? { fields[field] }

  var text: String { String(decoding: content, as: UTF8.self) }

  func json() throws -> JSON { try JSONDecoder().decode(JSON.self, from: Data(content)) }
}
