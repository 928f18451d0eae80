import ApusCore

extension SchedulerState {
  /// Stands for one attempt of a call, from the moment it comes until ``leave(_:now:)``.
  struct Ticket: Hashable, Sendable {
    let slot: Int
    /// Counts the uses of the place, so that an old ticket never finds a new call.
    let turn: UInt32
  }

  /// One that comes.
  struct Newcomer: Sendable {
    let origin: OriginKey
    var tags: [Tag] = []
    var priority = CallPriority.normal
    /// When its time is up.
    var deadline: MonotonicInstant?
    /// Whether the time it takes says something of others: how long somebody reads a stream does not.
    var isTypical = true
  }

  /// The order in which those that wait go: the lowest first.
  struct Rank: Comparable, Hashable, Sendable {
    /// When it came, later by what its priority puts it back: whoever comes after this instant is behind.
    let instant: MonotonicInstant
    /// Counts those that wait, so that of two with one instant the first goes first.
    let number: UInt64

    static func < (lhs: Rank, rhs: Rank) -> Bool {
      lhs.instant == rhs.instant ? lhs.number < rhs.number : lhs.instant < rhs.instant
    }
  }

  /// One attempt of a call, while it has a ticket.
  struct Entry: Sendable {
    enum Phase: Hashable, Sendable {
      /// Nobody has the place.
      case free
      case waiting
      /// Has a permit.
      case running
      /// Has the head of its answer, whose content is streamed, and counts for its limited tags alone.
      case streaming
      /// Has given its permit up for a time.
      case paused
      /// Was told that it is too late.
      case late
      /// Gave up waiting.
      case gone
    }

    var phase = Phase.free
    var turn: UInt32 = 0
    var origin = 0
    var group = 0
    var tags: [Tag] = []
    var deadline: MonotonicInstant?
    var isTypical = true
    /// When it got its permit.
    var started = MonotonicInstant(sinceStart: .zero)

    // While it waits: its line, and there a queue for each priority whose members point at each other.
    var line = 0
    var queue = 0
    var rank = Rank(instant: MonotonicInstant(sinceStart: .zero), number: 0)
    var previous = -1
    var next = -1
  }

  /// Those that wait for the same: one origin, and the same limited or held tags.
  ///
  /// Of one priority the first to come is the first to go, so a line is a queue for each priority, and whoever is first
  /// is found by a look at their heads.
  struct Line: Sendable {
    struct Queue: Sendable {
      var head = -1
      var tail = -1
    }

    var origin = 0
    var group = 0
    var count = 0
    var queues = Array(repeating: Queue(), count: CallPriority.allCases.count)
  }

  /// Those with the same limited or held tags.
  struct Group: Sendable {
    /// Places of the tags, in order. The group in place 0 has none.
    var tags: [Int] = []
    /// How many have it.
    var uses = 0
    /// The lines whose origins have room, by the ranks of their firsts.
    var lines = IndexedHeap<Rank>()
  }

  struct OriginRecord: Sendable {
    var limit: Int
    var key: OriginKey
    var running = 0
    /// How many belong to it: waiting, running or paused.
    var uses = 0
    var lines: [Int] = []
    var typical = TypicalTime()
    /// When one that ran there was last over.
    var lastEnd = MonotonicInstant(sinceStart: .zero)
  }

  struct TagRecord: Sendable {
    let tag: Tag
    /// `nil`: none.
    let limit: Int?
    var running = 0
    var isHeld = false
    /// How many groups have it.
    var uses = 0
  }
}
