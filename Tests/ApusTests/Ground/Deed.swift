import Apus

/// What a server does with a request, in words that the stub and the test server both understand.
struct Deed: Sendable {
  enum Ending: Sendable {
    /// The whole answer.
    case whole
    /// No answer ever.
    case silence
    /// A head and four bytes of content, and nothing more ever.
    case halfway
    /// The connection broken off in place of an answer.
    case broken
  }

  var status = 200
  var text = ""
  var fields: [String: String] = [:]
  var ending = Ending.whole
  /// What is waited for before anything.
  var latch: Latch?

  static func text(_ text: String) -> Deed { Deed(text: text) }
  static func status(_ status: Int, _ fields: [String: String] = [:]) -> Deed { Deed(status: status, fields: fields) }
  static func json(_ json: String, status: Int = 200) -> Deed {
    Deed(status: status, text: json, fields: ["Content-Type": "application/json"])
  }
  static let silence = Deed(ending: .silence)
  static let halfway = Deed(ending: .halfway)
  static let broken = Deed(ending: .broken)

  /// The same once a latch lets it go.
  func after(_ latch: Latch) -> Deed {
    var deed = self
    deed.latch = latch
    return deed
  }
}

/// A request as a server has seen it.
struct SeenRequest: Sendable {
  /// Its place among all that the server has seen, from 0.
  let number: Int
  let method: String
  /// The target without its query.
  let path: String
  let text: String
  let authorization: String?
}
