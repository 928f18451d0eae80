import Foundation

/// A line of output of `apus batch`.
struct ResultLine: Decodable, Sendable {
  var n: Int?
  var status: Int?
  var headers: [[String]]?
  var body: String?
  var error: String?
  var code: String?
  var requestState: String?
  var cache: String?
  var stored: Bool?
}

extension ToolRun {
  /// Returns the output of `apus batch` by the numbers of the requests.
  func results() throws -> [Int?: ResultLine] {
    let answers = try lines.map { try JSONDecoder().decode(ResultLine.self, from: Data($0.utf8)) }
    return Dictionary(answers.map { ($0.n, $0) }) { first, _ in first }
  }
}
