/// Which rows of the log `GET /__log` is asked for.
struct LogFilter: Sendable {
  /// Only rows after this sequence number.
  let after: Int
  let method: String?
  let path: String?
  let clientLeft: Bool?
  let ended: Bool?
  /// How many such rows are waited for, and how long at most.
  let count: Int
  let wait: Duration

  init(_ query: Query) throws(Problem) {
    after = try query.integer("after", in: 0...Int.max, default: 0)
    method = query["method"]
    path = query["path"]
    clientLeft = try query.flag("client_left")
    ended = try query.flag("ended")
    count = try query.integer("count", in: 1...10_000, default: 1)
    wait = .milliseconds(try query.integer("wait_ms", in: 0...60_000, default: 0))
  }

  func matches(_ row: LoggedExchange) -> Bool {
    row.sequence > after
      && (method.map { $0 == row.method } ?? true)
      && (path.map { $0 == row.path } ?? true)
      && (clientLeft.map { $0 == row.clientLeft } ?? true)
      && (ended.map { $0 == row.hasEnded } ?? true)
  }
}

extension Query {
  fileprivate func flag(_ name: String) throws(Problem) -> Bool? {
    switch self[name] {
    case nil: nil
    case "true": true
    case "false": false
    default: throw .invalid([FieldError(field: name, message: "must be true or false")])
    }
  }
}
