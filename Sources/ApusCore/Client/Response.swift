public import HTTPTypes

/// The value of a call with what came along with it.
public struct Response<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value
  let call: Call

  init(value: Value, call: Call) {
    self.value = value
    self.call = call
  }

  /// The call's id.
  public var id: CallID { call.id }
  /// Status and fields of the answer.
  public var head: HTTPResponse { call.entry.head ?? HTTPResponse(status: .ok) }
  /// The fields that came after the content, see ``ResponseContent/trailers``.
  public var trailers: HTTPFields { call.snapshot(\.trailers) }
  /// Everything that happened to the call.
  public var trace: Trace { call.trace }
}

/// A value, or an expected refusal.
public enum Outcome<Value: Sendable, Rejected: Sendable>: Sendable {
  /// The server accepted.
  case accepted(Value)
  /// The server refused and said this.
  case rejected(Rejected)
}
