/// One claim of the demo beside what the server's log says.
struct Check: Sendable, Equatable {
  /// A short name, also for `--break`.
  let name: String
  /// What was looked at, for example `GET /friends`.
  let subject: String
  /// What ought to have arrived.
  var expected: String
  /// What arrived.
  let arrived: String

  /// Whether they are the same.
  var isMet: Bool { expected == arrived }
}
