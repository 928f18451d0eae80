#if NIO
  import ApusCore
  import Testing

  @testable import ApusNIO

  /// The events of a connection in every state in which they can come.
  @Suite("Connection: its state")
  struct ConnectionStateTests {
    typealias State = ConnectionState<Int>

    enum Situation: String, CaseIterable {
      case new, entered, sending, sent, firstBytes, earlyHead, head, paused, cutShort, used, enteredAgain, sentAgain,
        over

      /// Whether an exchange is on it: the 1.
      var isBusy: Bool { ![.new, .used, .over].contains(self) }

      var state: State {
        var state = State()
        if [.used, .enteredAgain, .sentAgain].contains(self) {
          state.entered(0)
          state.requestBegun()
          state.requestCompleted()
          _ = state.bytesArrived()
          state.headArrived()
          #expect(state.responseCompleted(canReuse: true, isExact: true, isOpen: true) == true)
        }
        if isBusy { state.entered(1) }
        if ![.new, .entered, .used, .enteredAgain].contains(self) { state.requestBegun() }
        if [.sent, .sentAgain, .firstBytes, .head, .paused, .cutShort].contains(self) { state.requestCompleted() }
        if [.firstBytes, .earlyHead, .head, .paused, .cutShort].contains(self) {
          #expect(state.bytesArrived() == .decode)
        }
        if [.earlyHead, .head, .paused, .cutShort].contains(self) { state.headArrived() }
        if [.paused, .cutShort].contains(self) { #expect(state.paused() == true) }
        if self == .cutShort { #expect(state.closed(isRepeatable: true) == .wait) }
        if self == .over { state.broken() }
        return state
      }
    }

    @Test("takes an exchange where it is free, open and silent", arguments: Situation.allCases)
    func offering(situation: Situation) {
      for (isOpen, hasUnread) in [(true, false), (true, true), (false, false), (false, true)] {
        var state = situation.state
        var isAsked = false
        let beginning = state.offered(isOpen: isOpen) {
          isAsked = true
          return hasUnread
        }
        switch situation {
        case .new:
          #expect(beginning == (isOpen ? .enter : .giveBack))
          // Of an exchange before there can be nothing left.
          #expect(!isAsked)
        case .used:
          #expect(beginning == (isOpen ? (hasUnread ? .giveBackAndClose : .enter) : .giveBack))
          #expect(isAsked == isOpen)
        default:
          #expect(beginning == .giveBack)
          #expect(!isAsked)
        }
        if beginning == .giveBackAndClose { #expect(state.isOver) }
      }
    }

    @Test("knows how far a request got", arguments: Situation.allCases)
    func requestState(situation: Situation) {
      let expected: RequestState =
        switch situation {
        case .new, .entered, .used, .enteredAgain, .over: .notSent
        case .sending, .sent, .firstBytes, .sentAgain: .maybeSent
        case .earlyHead, .head, .paused, .cutShort: .answered
        }
      #expect(situation.state.requestState == expected)
    }

    @Test(
      "is owed an answer only once the request is out, and content only while somebody reads",
      arguments: Situation.allCases)
    func owing(situation: Situation) {
      let expected: State.Owed? =
        switch situation {
        case .sent, .firstBytes, .sentAgain: .head
        case .head: .content
        default: nil
        }
      #expect(situation.state.owed == expected)
    }

    @Test(
      "bytes of the request that wait to leave are owed before anything else, unless nobody reads the answer",
      arguments: Situation.allCases)
    func unsent(situation: Situation) {
      var state = situation.state
      let before = state.owed
      state.wrote(10)
      let isOwing = situation.isBusy && ![.paused, .cutShort].contains(situation)
      #expect(state.owed == (isOwing ? .room : nil))
      // Some of it leaves, none, some of what was written since, the rest.
      var moves: [Bool] = []
      for (written, unsent) in [(0, 4), (0, 4), (2, 5), (0, 0), (0, 0)] {
        state.wrote(written)
        moves.append(state.looked(unsent: unsent))
      }
      #expect(moves == [true, false, true, true, false])
      #expect(state.owed == before)
    }

    @Test("what waits to leave ends with its exchange", arguments: Situation.allCases)
    func unsentEnds(situation: Situation) {
      for isBroken in [true, false] {
        var state = situation.state
        state.wrote(10)
        if isBroken {
          state.broken()
        } else {
          _ = state.responseCompleted(canReuse: true, isExact: true, isOpen: true)
        }
        #expect(state.unsent == 0 && state.owed == nil)
      }
    }

    @Test("decodes what answers a request, and is closed by anything else", arguments: Situation.allCases)
    func arriving(situation: Situation) {
      var state = situation.state
      switch situation {
      case .over: #expect(state.bytesArrived() == .ignore)
      case .new, .used:
        #expect(state.bytesArrived() == .close)
        #expect(state.bytesArrived() == .ignore)
        #expect(state.offered(isOpen: true) { false } == .giveBack)
      default: #expect(state.bytesArrived() == .decode)
      }
    }

    @Test("its end is judged, waits for its reader, or sends the request again", arguments: Situation.allCases)
    func closing(situation: Situation) {
      for isRepeatable in [true, false] {
        var state = situation.state
        let expected: State.Closing =
          switch situation {
          case .new, .used, .over: .end
          case .paused, .cutShort: .wait
          // Only a connection that was used before can have been closed for being so.
          case .enteredAgain, .sentAgain: isRepeatable ? .resend : .judge
          case .entered, .sending, .sent, .firstBytes, .earlyHead, .head: .judge
          }
        #expect(state.closed(isRepeatable: isRepeatable) == expected)
        #expect(state.isOver == (expected == .end))
        #expect(state.isCutShort == (expected == .wait))
      }
    }

    @Test("reading stops once and goes on once", arguments: Situation.allCases)
    func pausing(situation: Situation) {
      var state = situation.state
      let isPaused = [.paused, .cutShort].contains(situation)
      #expect(state.paused() == (situation.isBusy && !isPaused))
      #expect(state.resumed() == situation.isBusy)
      #expect(state.resumed() == false)
    }

    @Test(
      "is free for the next exchange only after an exact answer to a whole request", arguments: [true, false],
      [true, false])
    func reuse(canReuse: Bool, isExact: Bool) {
      for (isOpen, isComplete) in [(true, true), (true, false), (false, true), (false, false)] {
        var state = (isComplete ? Situation.head : .earlyHead).state
        let isReusable = canReuse && isExact && isOpen && isComplete
        #expect(state.responseCompleted(canReuse: canReuse, isExact: isExact, isOpen: isOpen) == isReusable)
        #expect(state.exchange == nil)
        #expect(state.hasServed)
        #expect(state.isOver == !isReusable)
        #expect(state.requestState == .notSent)
        #expect(state.owed == nil)
      }
    }

    @Test("is closed for being unused only where it is, and once", arguments: Situation.allCases)
    func closingUnused(situation: Situation) {
      var state = situation.state
      #expect(state.closedUnused() == [.new, .used].contains(situation))
      #expect(state.closedUnused() == false)
    }

    @Test("what breaks an exchange off ends the connection", arguments: Situation.allCases)
    func breaking(situation: Situation) {
      var state = situation.state
      state.broken()
      #expect(state.exchange == nil && state.isOver)
      #expect(state.bytesArrived() == .ignore)
      #expect(state.offered(isOpen: true) { false } == .giveBack)
      #expect(state.closed(isRepeatable: true) == .end)
    }

    @Test("a request that cannot be written leaves it as good as before")
    func refusing() {
      for situation in [Situation.entered, .enteredAgain] {
        var state = situation.state
        state.requestRefused()
        #expect(state.offered(isOpen: true) { false } == .enter)
        #expect(state.hasServed == (situation == .enteredAgain))
      }
    }
  }
#endif
