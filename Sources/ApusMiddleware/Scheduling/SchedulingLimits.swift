public import ApusCore

/// How many calls run at a time, and how those that wait take turns.
///
/// A limit below 1 counts as 1. `Int.max` is no limit. A streamed call counts until its response head, and for the limits
/// of its tags until its content ends.
public struct SchedulingLimits: Sendable, Hashable {
  /// Calls that run at a time, whatever their server. Default: 64.
  public var total: Int
  /// Calls that run at a time to one origin. Default: 5.
  public var perOrigin: Int
  /// Origins with a limit of their own in place of ``perOrigin``. Default: none.
  public var origins: [Origin: Int] = [:]
  /// Calls with a tag that run at a time, for example 4 images. One with several of these tags counts for each.
  /// Default: none.
  public var tags: [Tag: Int]
  /// Calls that wait at a time; one more is refused (``SchedulingRefusal/queueFull(limit:)``). 0: none waits. Default:
  /// 100,000.
  public var queue = 100_000
  /// How long a call waits to make up for one step of ``CallPriority``. Default: 10 seconds.
  ///
  /// This bounds how long one can be overtaken: by calls of its own priority or a lower one not at all, by calls that
  /// are so many steps more urgent only if they come within so many times this time after it. So it is four times this
  /// time at the most; of those that come later nobody goes first, however urgent.
  ///
  /// A call that has waited for other credentials had its turn before, and comes back as one that comes then and is
  /// most urgent.
  ///
  /// There is one exception: who can use a place is not held up by one who cannot. A call whose origin or tag is at its
  /// limit, or held, is passed by calls that need neither, for as long as that is so. Nothing is kept free for a call
  /// that needs room in its origin and in limited tags at the same moment, since then one slow server would hold up
  /// another.
  public var ageing = Duration.seconds(10)
  /// Whether a call that waits is told that its time is up where, as places become free, less of it is left than half
  /// of the calls to its origin have taken of late: its place goes to one that can still make use of it. Default: yes.
  ///
  /// A call that need not wait is never refused for that, and once none has run for as long as they took, what they took
  /// counts no more: so a server that was slow gets another chance.
  public var refusesHopeless = true

  /// Makes limits; those left out are as for an app.
  public init(total: Int = 64, perOrigin: Int = 5, tags: [Tag: Int] = [:]) {
    self.total = total
    self.perOrigin = perOrigin
    self.tags = tags
  }

  /// For apps: 64 calls, 5 of them to one origin.
  public static let apps = SchedulingLimits()

  /// For servers: 64 calls to one origin, and any number to all of them.
  public static let servers = SchedulingLimits(total: .max, perOrigin: 64)
}
