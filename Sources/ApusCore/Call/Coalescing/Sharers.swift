import Synchronization

/// The calls that share an exchange, for middlewares that depend on all of them, such as a queue that gives the
/// exchange the highest priority of its calls.
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

    /// Removes the listener. It is not called for calls that join later.
    package func end() {
      sharers.state.withLock { $0.endListening(number) }
    }
  }

  private typealias Action = @Sendable (Member) -> Void

  private let state = Mutex(SharersState<Member, Action>())

  init() {}

  /// The waiting calls, in the order in which they joined.
  package var members: [Member] { state.withLock { $0.members } }

  /// Calls `action` immediately for every waiting call, and for each call that joins until the listener is removed.
  ///
  /// - Parameter action: called by the call that joins, which waits until it returns. It must return quickly.
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

/// The key of the calls that share an exchange.
enum SharersKey: ContextKey {
  /// `nil`: the exchange is not shared.
  static let defaultValue: Sharers? = nil
}

extension CallContext {
  /// Returns the context of an exchange that several calls share.
  func shared(by sharers: Sharers) -> CallContext {
    var copy = shared()
    copy.values[SharersKey.self] = sharers
    return copy
  }

  /// The calls that share this exchange, or `nil` if it is not shared.
  package var sharers: Sharers? { isShared ? values[SharersKey.self] : nil }
}

/// The members of a shared exchange, and the listeners for new members. A pure state machine.
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

  /// Adds a listener. Returns the number with which to remove it.
  mutating func listen(_ listener: Listener) -> UInt64 {
    lastListener += 1
    listeners.append(Numbered(number: lastListener, item: listener))
    return lastListener
  }

  mutating func endListening(_ number: UInt64) {
    listeners.removeAll { $0.number == number }
  }
}
