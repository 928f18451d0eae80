/// Does work that may make any number of calls, one after the other or side by side, within one time limit.
///
/// ```swift
/// let screen = try await withDeadline(.seconds(5)) {
///   let me = try await api.send(Request<User>.get("/me"))
///   return try await api.send(Request<[User]>.get("/users/\(me.id)/friends"))
/// }
/// ```
///
/// It ends calls, and nothing else: one that runs when the time is up ends with the code `timeout` and the phase it was
/// in, as with a limit of its own; one that begins later sends nothing. A nearer limit, of a call or of other work that
/// this is done in, stays in force. It starts no task, and cancels none. In a closure Swift infers `any Error`: write
/// `{ () async throws(CallError) in … }` to keep the type.
///
/// Clients with another clock than `clock`, as in a test, count on with theirs what was left when a call began. To
/// count by a client's clock from the start use ``Client/withDeadline(_:_:)``.
///
/// - Parameters:
///   - limit: how long the calls may take together. Not positive: none of them is sent.
///   - clock: counts the time. Default: the system's.
///   - work: makes the calls; runs where the caller runs.
/// - Returns: what `work` returns.
/// - Throws: what `work` throws.
public func withDeadline<Output, Failure: Error>(
  _ limit: Duration, on clock: any MonotonicClock = SystemClock(), _ work: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  let deadline = Deadline(clock.now.advanced(by: limit), on: clock)
  return try await DeadlineScope.perform(until: deadline, work).get()
}

extension Client {
  /// Does work that may make any number of calls within one time limit, by this client's clock.
  ///
  /// It binds the calls of all clients, see ``withDeadline(_:on:_:)``.
  ///
  /// - Parameters:
  ///   - limit: how long the calls may take together. Not positive: none of them is sent.
  ///   - work: makes the calls; runs where the caller runs.
  /// - Returns: what `work` returns.
  /// - Throws: what `work` throws.
  public func withDeadline<Output, Failure: Error>(
    _ limit: Duration, _ work: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    let clock = state.runtime.clock
    let deadline = Deadline(clock.now.advanced(by: limit), on: clock)
    return try await DeadlineScope.perform(until: deadline, work).get()
  }
}
