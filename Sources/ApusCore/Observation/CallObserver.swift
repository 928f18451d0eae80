/// Is told every event of every call of a client, in the order in which they happened to each call.
///
/// Observers are called where the event happens, one event of a call at a time: be quick, and hand longer
/// work to a task of your own. An observer may cancel calls.
public protocol CallObserver: Sendable {
  /// One event of one call.
  func observe(_ event: TraceEvent, of call: CallEntry)
}
