#if NIO
  import ApusCore
  import Testing

  @testable import ApusNIO

  /// Every event in every place that an exchange can be in.
  @Suite("Exchange: its state")
  struct ExchangeStateTests {
    typealias State = ExchangeState<Int>

    /// The ways to where an exchange can be.
    enum Situation: String, CaseIterable {
      case new, queued, on, answered, queuedAgain, onAgain, ended, endedUnbegun

      var state: State {
        var state = State()
        if self != .new, self != .endedUnbegun { #expect(state.begun() == true) }
        switch self {
        case .new, .queued: break
        case .endedUnbegun, .ended: _ = state.ended()
        case .on: #expect(state.entered(1) == true)
        case .answered:
          #expect(state.entered(1) == true)
          #expect(state.answered() == true)
        case .queuedAgain:
          #expect(state.entered(1) == true)
          #expect(state.requeued(wasWritten: true) == true)
        case .onAgain:
          #expect(state.entered(1) == true)
          #expect(state.requeued(wasWritten: true) == true)
          #expect(state.entered(2) == true)
        }
        return state
      }
    }

    @Test("begins once, and not after it was ended", arguments: Situation.allCases)
    func beginning(situation: Situation) {
      var state = situation.state
      #expect(state.begun() == (situation == .new))
    }

    @Test("takes a connection only while it waits for one", arguments: Situation.allCases)
    func entering(situation: Situation) {
      var state = situation.state
      let before = state.place
      let isWaiting = [.queued, .queuedAgain].contains(situation)
      #expect(state.entered(7) == isWaiting)
      #expect(state.place == (isWaiting ? .on(7) : before))
    }

    @Test("goes to a new connection once", arguments: Situation.allCases, [true, false])
    func requeueing(situation: Situation, wasWritten: Bool) {
      var state = situation.state
      let may = [.queued, .on, .answered].contains(situation)
      let before = state.place
      #expect(state.requeued(wasWritten: wasWritten) == may)
      #expect(state.place == (may ? .queued : before))
      #expect(state.needsNewConnection == (may || [.queuedAgain, .onAgain].contains(situation)))
    }

    @Test("tells whoever waits once, and where it has to be taken from", arguments: Situation.allCases)
    func ending(situation: Situation) {
      var state = situation.state
      let ending = state.ended()
      let expected: State.Ending =
        switch situation {
        case .new: .init(place: .nowhere, tells: false)
        case .queued, .queuedAgain: .init(place: .queued, tells: true)
        case .on: .init(place: .on(1), tells: true)
        case .onAgain: .init(place: .on(2), tells: true)
        // The head was handed over: the content's reader is told by the content.
        case .answered: .init(place: .on(1), tells: false)
        case .ended, .endedUnbegun: .init(place: .over, tells: false)
        }
      #expect(ending == expected)
      #expect(state.ended() == .init(place: .over, tells: false))
      #expect(state.answered() == false)
    }

    @Test("is left alone by the end of its patience unless it waits for a connection", arguments: Situation.allCases)
    func patience(situation: Situation) {
      var state = situation.state
      let before = state.place
      let isWaiting = [.queued, .queuedAgain].contains(situation)
      #expect(state.ended(onlyWhileWaiting: true) == (isWaiting ? .init(place: .queued, tells: true) : nil))
      #expect(state.place == (isWaiting ? .over : before))
    }

    @Test("hands its head over once", arguments: Situation.allCases)
    func answering(situation: Situation) {
      var state = situation.state
      #expect(state.answered() == [.queued, .on, .queuedAgain, .onAgain].contains(situation))
      #expect(state.answered() == false)
    }

    @Test("is never told to be unsent once a connection had it", arguments: [false, true])
    func requestState(wasWritten: Bool) {
      var state = Situation.on.state
      #expect(state.requestState(.notSent) == .notSent)
      #expect(state.requeued(wasWritten: wasWritten) == true)
      #expect(state.requestState(.notSent) == (wasWritten ? .maybeSent : .notSent))
      #expect(state.requestState(.answered) == .answered)
      #expect(state.requestState(.maybeSent) == .maybeSent)
    }
  }
#endif
