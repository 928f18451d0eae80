import ApusCore
import Testing

@testable import ApusNIO

/// Tests each event of an exchange in every state in which the event can occur.
@Suite("Exchange state")
struct ExchangeStateTests {
  typealias State = ExchangeState<Int>

  /// The states of an exchange, distinguished by the events that lead to a state.
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
        #expect(state.requeued(.stale(wasWritten: true)) == true)
      case .onAgain:
        #expect(state.entered(1) == true)
        #expect(state.requeued(.stale(wasWritten: true)) == true)
        #expect(state.entered(2) == true)
      }
      return state
    }
  }

  @Test("An exchange begins once, and not after its end", arguments: Situation.allCases)
  func beginning(situation: Situation) {
    var state = situation.state
    #expect(state.begun() == (situation == .new))
  }

  @Test("An exchange is assigned to a connection only while it waits for a connection", arguments: Situation.allCases)
  func entering(situation: Situation) {
    var state = situation.state
    let before = state.place
    let isWaiting = [.queued, .queuedAgain].contains(situation)
    #expect(state.entered(7) == isWaiting)
    #expect(state.place == (isWaiting ? .on(7) : before))
  }

  @Test("An exchange moves to a new connection only once", arguments: Situation.allCases, [true, false])
  func requeueing(situation: Situation, wasWritten: Bool) {
    var state = situation.state
    let may = [.queued, .on, .answered].contains(situation)
    let before = state.place
    #expect(state.requeued(.stale(wasWritten: wasWritten)) == may)
    #expect(state.place == (may ? .queued : before))
    #expect(state.needsNewConnection == (may || [.queuedAgain, .onAgain].contains(situation)))
  }

  @Test(
    "The end of an exchange resumes the caller once and returns the place that contained the exchange",
    arguments: Situation.allCases)
  func ending(situation: Situation) {
    var state = situation.state
    let ending = state.ended()
    let expected: State.Ending =
      switch situation {
      case .new: .init(place: .nowhere, resumesCaller: false, wasWritten: false)
      case .queued: .init(place: .queued, resumesCaller: true, wasWritten: false)
      case .queuedAgain: .init(place: .queued, resumesCaller: true, wasWritten: true)
      case .on: .init(place: .on(1), resumesCaller: true, wasWritten: false)
      case .onAgain: .init(place: .on(2), resumesCaller: true, wasWritten: true)
      // The head was delivered, so the caller receives the failure through the content.
      case .answered: .init(place: .on(1), resumesCaller: false, wasWritten: false)
      case .ended, .endedUnbegun: .init(place: .over, resumesCaller: false, wasWritten: false)
      }
    #expect(ending == expected)
    #expect(state.ended() == .init(place: .over, resumesCaller: false, wasWritten: expected.wasWritten))
    #expect(state.headDelivered() == false)
  }

  @Test("The timeout of the wait for a connection applies only during that wait", arguments: Situation.allCases)
  func connectionTimeout(situation: Situation) {
    var state = situation.state
    let before = state.place
    let isWaiting = [.queued, .queuedAgain].contains(situation)
    let ending = State.Ending(place: .queued, resumesCaller: true, wasWritten: situation == .queuedAgain)
    #expect(state.ended(onlyWhileWaiting: true) == (isWaiting ? ending : nil))
    #expect(state.place == (isWaiting ? .over : before))
  }

  @Test(
    "The head of a response is delivered once", arguments: [Situation.on, .onAgain, .answered, .ended, .endedUnbegun])
  func answering(situation: Situation) {
    var state = situation.state
    #expect(state.headDelivered() == [.on, .onAgain].contains(situation))
    #expect(state.headDelivered() == false)
  }

  @Test("A request that was written is never reported as not sent", arguments: [false, true])
  func requestState(wasWritten: Bool) throws {
    var state = Situation.on.state
    #expect(state.requeued(.stale(wasWritten: wasWritten)) == true)
    let end = state.ended()
    let ending = try #require(end)
    #expect(ending.requestState(.notSent) == (wasWritten ? .maybeSent : .notSent))
    #expect(ending.requestState(.responded) == .responded)
    #expect(ending.requestState(.maybeSent) == .maybeSent)
  }
}
