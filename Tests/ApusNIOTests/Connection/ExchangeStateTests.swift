import ApusCore
import Testing

@testable import ApusNIO

/// The events of an exchange in every place in which they can occur.
@Suite("Exchange state")
struct ExchangeStateTests {
  typealias State = ExchangeState<Int>

  /// The ways to each place of an exchange.
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
        #expect(state.headDelivered() == true)
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

  @Test("It begins once, and not after it has ended", arguments: Situation.allCases)
  func beginning(situation: Situation) {
    var state = situation.state
    #expect(state.begun() == (situation == .new))
  }

  @Test("It enters a connection only while it waits for one", arguments: Situation.allCases)
  func entering(situation: Situation) {
    var state = situation.state
    let before = state.place
    let isWaiting = [.queued, .queuedAgain].contains(situation)
    #expect(state.entered(7) == isWaiting)
    #expect(state.place == (isWaiting ? .on(7) : before))
  }

  @Test("It moves to a new connection once", arguments: Situation.allCases, [true, false])
  func requeueing(situation: Situation, wasWritten: Bool) {
    var state = situation.state
    let may = [.queued, .on, .answered].contains(situation)
    let before = state.place
    #expect(state.requeued(wasWritten: wasWritten) == may)
    #expect(state.place == (may ? .queued : before))
    #expect(state.needsNewConnection == (may || [.queuedAgain, .onAgain].contains(situation)))
  }

  @Test("Its end resumes the caller once and tells the place to remove it from", arguments: Situation.allCases)
  func ending(situation: Situation) {
    var state = situation.state
    let ending = state.ended()
    let expected: State.Ending =
      switch situation {
      case .new: .init(place: .nowhere, tells: false, wasWritten: false)
      case .queued: .init(place: .queued, tells: true, wasWritten: false)
      case .queuedAgain: .init(place: .queued, tells: true, wasWritten: true)
      case .on: .init(place: .on(1), tells: true, wasWritten: false)
      case .onAgain: .init(place: .on(2), tells: true, wasWritten: true)
      // The head was delivered: the failure reaches the reader through the content.
      case .answered: .init(place: .on(1), tells: false, wasWritten: false)
      case .ended, .endedUnbegun: .init(place: .over, tells: false, wasWritten: false)
      }
    #expect(ending == expected)
    #expect(state.ended() == .init(place: .over, tells: false, wasWritten: expected.wasWritten))
    #expect(state.headDelivered() == false)
  }

  @Test("A timeout of the wait for a connection applies only while it waits", arguments: Situation.allCases)
  func patience(situation: Situation) {
    var state = situation.state
    let before = state.place
    let isWaiting = [.queued, .queuedAgain].contains(situation)
    let ending = State.Ending(place: .queued, tells: true, wasWritten: situation == .queuedAgain)
    #expect(state.ended(onlyWhileWaiting: true) == (isWaiting ? ending : nil))
    #expect(state.place == (isWaiting ? .over : before))
  }

  @Test("Its head is delivered once", arguments: [Situation.on, .onAgain, .answered, .ended, .endedUnbegun])
  func answering(situation: Situation) {
    var state = situation.state
    #expect(state.headDelivered() == [.on, .onAgain].contains(situation))
    #expect(state.headDelivered() == false)
  }

  @Test("It is never reported as unsent once it was written", arguments: [false, true])
  func requestState(wasWritten: Bool) throws {
    var state = Situation.on.state
    #expect(state.requeued(wasWritten: wasWritten) == true)
    let end = state.ended()
    let ending = try #require(end)
    #expect(ending.requestState(.notSent) == (wasWritten ? .maybeSent : .notSent))
    #expect(ending.requestState(.responded) == .responded)
    #expect(ending.requestState(.maybeSent) == .maybeSent)
  }
}
