import Synchronization

/// The calls that wait for one exchange, for whatever has to know whom it works for, such as a queue in which the
/// exchange is to be as urgent as the most urgent of them.
///
/// ```swift
/// struct Watching: Middleware {
///   func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
///     let listening = context.sharers?.listen { member in print("also for a task of \(member.taskPriority)") }
///     defer { listening?.end() }
///     return try await next(request, context: context)
///   }
/// }
/// ```
public final class Sharers: Sendable {
  /// One of the calls.
  public struct Member: Sendable {
    /// Its settings.
    public let values: ContextValues
    /// The priority of the task that made it.
    public let taskPriority: TaskPriority
  }

  /// Stands for one that listens.
  public struct Listening: Sendable {
    fileprivate let sharers: Sharers
    fileprivate let number: UInt64

    /// Ends it: nobody is told of calls that come from now on.
    public func end() {
      sharers.state.withLock { $0.endListening(number) }
    }
  }

  private typealias Action = @Sendable (Member) -> Void

  private let state = Mutex(SharersState<Member, Action>())

  init() {}

  /// Those that wait now, in the order in which they came.
  public var members: [Member] { state.withLock { $0.members } }

  /// Tells of every call that waits now, at once, and of each that comes until the end of it.
  ///
  /// - Parameter action: called where the call comes, which waits meanwhile: be quick.
  public func listen(_ action: @escaping @Sendable (Member) -> Void) -> Listening {
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

/// Where work that several calls share keeps whose work it is.
enum SharersKey: ContextKey {
  /// It is one call's own.
  static let defaultValue: Sharers? = nil
}

extension CallContext {
  /// The context of an exchange that several calls share.
  func shared(by sharers: Sharers) -> CallContext {
    var copy = shared()
    copy.values[SharersKey.self] = sharers
    return copy
  }

  /// The calls that wait for what is done; `nil`: it is done for one call that shares it with nobody.
  public var sharers: Sharers? { isShared ? values[SharersKey.self] : nil }
}

/// Who shares something, and who is to be told of those that come: pure.
struct SharersState<Member: Sendable, Listener: Sendable>: Sendable {
  private struct Numbered<Item: Sendable>: Sendable {
    let number: UInt64
    let item: Item
  }

  private var present: [UInt64: Numbered<Member>] = [:]
  private var listeners: [Numbered<Listener>] = []
  private var arrivals: UInt64 = 0
  private var lastListener: UInt64 = 0

  /// In the order in which they came.
  var members: [Member] { present.values.sorted { $0.number < $1.number }.map(\.item) }

  /// One comes. Answers who is told.
  mutating func join(_ member: Member, _ serial: UInt64) -> [Listener] {
    arrivals += 1
    present[serial] = Numbered(number: arrivals, item: member)
    return listeners.map(\.item)
  }

  /// One goes.
  mutating func leave(_ serial: UInt64) {
    present[serial] = nil
  }

  /// Somebody wants to be told. Answers a number to end it by.
  mutating func listen(_ listener: Listener) -> UInt64 {
    lastListener += 1
    listeners.append(Numbered(number: lastListener, item: listener))
    return lastListener
  }

  mutating func endListening(_ number: UInt64) {
    listeners.removeAll { $0.number == number }
  }
}
