import Foundation

/// One line that `apus batch` prints.
struct AnswerLine: Decodable, Sendable {
  var n: Int?
  var status: Int?
  var headers: [[String]]?
  var body: String?
  var error: String?
  var code: String?
  var requestState: String?
}

extension ToolRun {
  /// What `apus batch` printed, by the numbers of the requests.
  func answers() throws -> [Int?: AnswerLine] {
    let answers = try lines.map { try JSONDecoder().decode(AnswerLine.self, from: Data($0.utf8)) }
    return Dictionary(answers.map { ($0.n, $0) }) { first, _ in first }
  }
}
