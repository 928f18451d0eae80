/// What the client of a call passes on to the calls that are made for that one: where they go, and when they must be
/// over. Behind a reference, so that a client stays small.
final class CallOrigin: Sendable {
  let prepared: PreparedEnvironment
  /// An instant of the client's clock; `nil`: no limit.
  let deadline: MonotonicInstant?
  /// Work with deadlines that do not bind its calls, since they serve others, too.
  let unbinding: [DeadlineScope]

  init(_ prepared: PreparedEnvironment, until deadline: MonotonicInstant?, unbinding: [DeadlineScope] = []) {
    (self.prepared, self.deadline, self.unbinding) = (prepared, deadline, unbinding)
  }
}
