import Apus

/// A server's reply to a request, for both the stub and the test server.
struct ScriptedReply: Sendable {
  enum Ending: Sendable {
    /// The complete response.
    case whole
    /// No response.
    case silence
    /// A head and four bytes of content, then silence.
    case halfway
    /// A closed connection without a response.
    case broken
  }

  var status = 200
  var text = ""
  var fields: [String: String] = [:]
  var ending = Ending.whole
  /// The latch to wait for before the reply.
  var latch: Latch?

  static func text(_ text: String) -> ScriptedReply { ScriptedReply(text: text) }
  static func status(_ status: Int, _ fields: [String: String] = [:]) -> ScriptedReply {
    ScriptedReply(status: status, fields: fields)
  }
  static func json(_ json: String, status: Int = 200) -> ScriptedReply {
    ScriptedReply(status: status, text: json, fields: ["Content-Type": "application/json"])
  }
  static let silence = ScriptedReply(ending: .silence)
  static let halfway = ScriptedReply(ending: .halfway)
  static let broken = ScriptedReply(ending: .broken)

  /// Returns the reply, delayed until a latch opens.
  func after(_ latch: Latch) -> ScriptedReply {
    var scriptedReply = self
    scriptedReply.latch = latch
    return scriptedReply
  }
}

/// A request as a server received it.
struct ReceivedRequest: Sendable {
  /// The request's number on this server, from 0.
  let number: Int
  let method: String
  /// The target without its query.
  let path: String
  let text: String
  let authorization: String?
}
