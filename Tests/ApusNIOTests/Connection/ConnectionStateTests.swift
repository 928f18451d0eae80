#if NIO
import ApusCore
import Testing

@testable import ApusNIO

/// The events of a connection in every state in which they can occur.
@Suite("Connection state")
struct ConnectionStateTests {
  typealias State = ConnectionState<Int>

  enum Situation: String, CaseIterable {
    case new, entered, sending, sent, firstBytes, earlyHead, head, paused, cutShort, used, enteredAgain, sentAgain,
      over

    /// Whether an exchange, number 1, is on the connection.
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

  @Test("It accepts an exchange only if it is free, open and silent", arguments: Situation.allCases)
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
        // Nothing may be left of an earlier exchange.
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

  @Test("It knows how far a request got", arguments: Situation.allCases)
  func requestState(situation: Situation) {
    let expected: RequestState =
      switch situation {
      case .new, .entered, .used, .enteredAgain, .over: .notSent
      case .sending, .sent, .firstBytes, .sentAgain: .maybeSent
      case .earlyHead, .head, .paused, .cutShort: .responded
      }
    #expect(situation.state.requestState == expected)
  }

  @Test(
    "It awaits a response only after the whole request, and content only while the reader reads",
    arguments: Situation.allCases)
  func owing(situation: Situation) {
    let expected: State.Awaited? =
      switch situation {
      case .sent, .firstBytes, .sentAgain: .head
      case .head: .content
      default: nil
      }
    #expect(situation.state.awaited == expected)
  }

  @Test(
    "Unsent bytes of the request are awaited first, unless the response's reader is slow",
    arguments: Situation.allCases)
  func unsent(situation: Situation) {
    var state = situation.state
    let before = state.awaited
    state.wrote(10)
    let isOwing = situation.isBusy && ![.paused, .cutShort].contains(situation)
    #expect(state.awaited == (isOwing ? .progress : nil))
    // Some bytes leave, none, some of those written since, the rest.
    var moves: [Bool] = []
    for (written, unsent) in [(0, 4), (0, 4), (2, 5), (0, 0), (0, 0)] {
      state.wrote(written)
      moves.append(state.measured(unsent: unsent))
    }
    #expect(moves == [true, false, true, true, false])
    #expect(state.awaited == before)
  }

  @Test("Unsent bytes are forgotten with their exchange", arguments: Situation.allCases)
  func unsentEnds(situation: Situation) {
    for isBroken in [true, false] {
      var state = situation.state
      state.wrote(10)
      if isBroken {
        state.broken()
      } else {
        _ = state.responseCompleted(canReuse: true, isExact: true, isOpen: true)
      }
      #expect(state.unsent == 0 && state.awaited == nil)
    }
  }

  @Test(
    "Bytes are decoded during an exchange; at any other time they close the connection", arguments: Situation.allCases
  )
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

  @Test("Its end is decoded, waits for the reader, or sends the request again", arguments: Situation.allCases)
  func closing(situation: Situation) {
    for isRepeatable in [true, false] {
      var state = situation.state
      let expected: State.Closing =
        switch situation {
        case .new, .used, .over: .end
        case .paused, .cutShort: .wait
        // Only a reused connection can have been closed for being idle.
        case .enteredAgain, .sentAgain: isRepeatable ? .resend : .judge
        case .entered, .sending, .sent, .firstBytes, .earlyHead, .head: .judge
        }
      #expect(state.closed(isRepeatable: isRepeatable) == expected)
      #expect(state.isOver == (expected == .end))
      #expect(state.isCutShort == (expected == .wait))
    }
  }

  @Test("Reading pauses once and resumes once", arguments: Situation.allCases)
  func pausing(situation: Situation) {
    var state = situation.state
    let isPaused = [.paused, .cutShort].contains(situation)
    #expect(state.paused() == (situation.isBusy && !isPaused))
    #expect(state.resumed() == situation.isBusy)
    #expect(state.resumed() == false)
  }

  @Test(
    "It is free again only after an exact response to a complete request", arguments: [true, false],
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
      #expect(state.awaited == nil)
    }
  }

  @Test("It is closed as idle only if it is idle, and once", arguments: Situation.allCases)
  func closingUnused(situation: Situation) {
    var state = situation.state
    #expect(state.closedUnused() == [.new, .used].contains(situation))
    #expect(state.closedUnused() == false)
  }

  @Test("An exchange that breaks ends the connection", arguments: Situation.allCases)
  func breaking(situation: Situation) {
    var state = situation.state
    state.broken()
    #expect(state.exchange == nil && state.isOver)
    #expect(state.bytesArrived() == .ignore)
    #expect(state.offered(isOpen: true) { false } == .giveBack)
    #expect(state.closed(isRepeatable: true) == .end)
  }

  @Test("A request that cannot be written leaves the connection usable")
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
