import Apus
import ApusTestServer
import Testing

/// A sequence of calls to one server, with the replies of the server and the decisions of the cache.
struct CacheScenario: Sendable, CustomTestStringConvertible {
  /// A call and its expected result.
  struct Step: Sendable {
    var method = "GET"
    var path = "/a"
    var fields: [String: String] = [:]
    var content: String?
    var policy: CachePolicy?
    var isStreamed = false
    /// The seconds that pass before the call.
    var delay = 0
    /// The reply of the server; `nil`: the server gets no request.
    var reply: Reply?
    /// Whether the request arrives after the result, in the background.
    var isInBackground = false
    /// The fields with which the request reaches the server; empty: the field is missing.
    var sent: [String: String] = [:]
    var status = 200
    var text = "Ann"
    /// The fields of the result; empty: the field is missing.
    var received: [String: String] = [:]
    /// The decision of the cache, without the name of the cache; `nil`: any.
    var decision: String?
    /// The code of the error.
    var error: CallError.Code?
  }

  let name: String
  let steps: [Step]

  init(_ name: String, _ steps: Step...) {
    (self.name, self.steps) = (name, steps)
  }

  var testDescription: String { name }
}

extension CacheScenario.Step {
  /// A call that is answered without the server.
  static func hit(_ decision: String? = nil, after delay: Int = 0) -> Self {
    Self(delay: delay, decision: "hit" + (decision.map { "; \($0)" } ?? ""))
  }

  /// A call that reaches the server.
  static func sent(_ reply: Reply, after delay: Int = 0, _ decision: String? = nil) -> Self {
    Self(delay: delay, reply: reply, decision: decision)
  }

  /// Returns the step with changes.
  func with(_ change: (inout Self) -> Void) -> Self {
    var step = self
    change(&step)
    return step
  }

  func to(_ path: String, _ method: String = "GET") -> Self { with { ($0.path, $0.method) = (path, method) } }
  func field(_ name: String, _ value: String) -> Self { with { $0.fields[name] = value } }
  func policy(_ policy: CachePolicy) -> Self { with { $0.policy = policy } }
  func sending(_ name: String, _ value: String) -> Self { with { $0.sent[name] = value } }
  func gives(_ text: String, _ status: Int = 200) -> Self { with { ($0.text, $0.status) = (text, status) } }
  func receiving(_ name: String, _ value: String) -> Self { with { $0.received[name] = value } }
  func failing(_ error: CallError.Code, _ status: Int = 0) -> Self { with { ($0.error, $0.status) = (error, status) } }
  var streamed: Self { with { $0.isStreamed = true } }
  var inBackground: Self { with { $0.isInBackground = true } }
}

extension Reply {
  /// A text with a value of `Cache-Control`.
  static func ann(_ control: String?, _ fields: FieldLines = [:], text: String = "Ann") -> Reply {
    .text(text, fields: fields.adding("Cache-Control", control))
  }

  /// A 304.
  static func unchanged(_ control: String? = nil, _ fields: FieldLines = [:]) -> Reply {
    .status(304, fields: fields.adding("Cache-Control", control))
  }
}

extension FieldLines {
  fileprivate func adding(_ name: String, _ value: String?) -> FieldLines {
    guard let value else { return self }
    var lines = self
    lines[name] = value
    return lines
  }
}
