import Synchronization

/// The calls that share one exchange, for middlewares that depend on all of them, such as a queue in which the exchange has
/// the priority of its most urgent call.
///
/// ```swift
/// struct Watching: Middleware {
///   func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
///     let listening = context.sharers?.listen { member in print("joined with priority \(member.taskPriority)") }
///     defer { listening?.end() }
///     return try await next(request, context: context)
///   }
/// }
/// ```
package final class Sharers: Sendable {
  /// One of the calls that share the exchange.
  package struct Member: Sendable {
    /// The settings of the call.
    package let values: ContextValues
    /// The priority of the task that made the call.
    package let taskPriority: TaskPriority
  }

  /// A registered listener.
  package struct Listening: Sendable {
    fileprivate let sharers: Sharers
    fileprivate let number: UInt64

    /// Removes the listener: it is not called for calls that join from now on.
    package func end() {
      sharers.state.withLock { $0.endListening(number) }
    }
  }

  private typealias Action = @Sendable (Member) -> Void

  private let state = Mutex(SharersState<Member, Action>())

  init() {}

  /// The calls that wait now, in the order in which they joined.
  package var members: [Member] { state.withLock { $0.members } }

  /// Calls `action` at once for every call that waits now, and for each that joins until the listener is removed.
  ///
  /// - Parameter action: runs where the call joins, which waits meanwhile: return quickly.
  package func listen(_ action: @escaping @Sendable (Member) -> Void) -> Listening {
    let (number, members) = state.withLock { ($0.listen(action), $0.members) }
    for member in members { action(member) }
    return Listening(sharers: self, number: number)
  }

  func join(_ member: Member, serial: UInt64) {
    for action in state.withLock({ $0.join(member, serial) }) { action(member) }
  }

  func leave(_ serial: UInt64) {
    state.withLock { $0.leave(serial) }
  }
}

/// The calls that share the work.
enum SharersKey: ContextKey {
  /// Default: `nil`, the work of one call.
  static let defaultValue: Sharers? = nil
}

extension CallContext {
  /// The context of an exchange that several calls share.
  func shared(by sharers: Sharers) -> CallContext {
    var copy = shared()
    copy.values[SharersKey.self] = sharers
    return copy
  }

  /// The calls that share this exchange; `nil`: one call alone has it.
  package var sharers: Sharers? { isShared ? values[SharersKey.self] : nil }
}

/// The members that share something, and the listeners for new ones: a pure state machine.
struct SharersState<Member: Sendable, Listener: Sendable>: Sendable {
  private struct Numbered<Item: Sendable>: Sendable {
    let number: UInt64
    let item: Item
  }

  private var present: [UInt64: Numbered<Member>] = [:]
  private var listeners: [Numbered<Listener>] = []
  private var arrivals: UInt64 = 0
  private var lastListener: UInt64 = 0

  /// The members in the order in which they joined.
  var members: [Member] { present.values.sorted { $0.number < $1.number }.map(\.item) }

  /// Adds a member. Returns the listeners to call.
  mutating func join(_ member: Member, _ serial: UInt64) -> [Listener] {
    arrivals += 1
    present[serial] = Numbered(number: arrivals, item: member)
    return listeners.map(\.item)
  }

  /// Removes a member.
  mutating func leave(_ serial: UInt64) {
    present[serial] = nil
  }

  /// Adds a listener. Returns the number to remove it by.
  mutating func listen(_ listener: Listener) -> UInt64 {
    lastListener += 1
    listeners.append(Numbered(number: lastListener, item: listener))
    return lastListener
  }

  mutating func endListening(_ number: UInt64) {
    listeners.removeAll { $0.number == number }
  }
}
