import ApusCore
import Testing

@testable import ApusNIO

/// Tests each event of a connection in every state in which it can occur.
@Suite("Connection state")
struct ConnectionStateTests {
  typealias State = ConnectionState<Int>

  enum Situation: String, CaseIterable {
    case new, entered, sending, sent, firstBytes, head, paused, cutShort, used, enteredAgain, sentAgain, over
    /// The response arrived before the request was complete: a success, an error, a success while the content is
    /// withheld, and a success whose content is complete.
    case earlySuccess, earlyError, unasked, earlyEnd

    /// Whether an exchange, number 1, is on the connection.
    var isBusy: Bool { ![.new, .used, .over].contains(self) }
    /// Whether the response arrived before the request was complete.
    var isEarly: Bool { [.earlySuccess, .earlyError, .unasked, .earlyEnd].contains(self) }
    var isPaused: Bool { [.paused, .cutShort].contains(self) }

    var state: State {
      var state = State()
      if [.used, .enteredAgain, .sentAgain].contains(self) {
        state.entered(0)
        state.progress.requestBegun()
        state.progress.requestCompleted()
        _ = state.bytesArrived()
        #expect(state.headArrived(isSuccess: true) == false)
        #expect(state.responseCompleted(canReuse: true, isExact: true, isOpen: true) == .reuse)
      }
      if isBusy { state.entered(1) }
      if ![.new, .entered, .used, .enteredAgain].contains(self) { state.progress.requestBegun() }
      if [.sent, .sentAgain, .firstBytes, .head, .paused, .cutShort].contains(self) {
        state.progress.requestCompleted()
      }
      if isEarly || [.firstBytes, .head, .paused, .cutShort].contains(self) {
        #expect(state.bytesArrived() == .decode)
      }
      if isEarly || [.head, .paused, .cutShort].contains(self) {
        let isSuccess = self != .earlyError
        #expect(state.headArrived(isSuccess: isSuccess, isContentHeld: self == .unasked) == isEarly)
      }
      if self == .earlyEnd {
        #expect(state.responseCompleted(canReuse: true, isExact: true, isOpen: true) == .sendOn)
      }
      if isPaused { #expect(state.pause() == true) }
      if self == .cutShort { #expect(state.closed(isRepeatable: true) == .wait) }
      if self == .over { state.broken() }
      return state
    }
  }

  @Test(
    "A connection accepts an exchange only if it is free, open and has no unread input", arguments: Situation.allCases)
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
        // The state must not depend on an earlier exchange.
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

  @Test(
    "The request state follows the sending of the request and the arrival of the response",
    arguments: Situation.allCases)
  func requestState(situation: Situation) {
    let expected: RequestState =
      switch situation {
      case .new, .entered, .used, .enteredAgain, .over: .notSent
      case .sending, .sent, .firstBytes, .sentAgain: .maybeSent
      case .earlySuccess, .earlyError, .unasked, .earlyEnd, .head, .paused, .cutShort: .responded
      }
    #expect(situation.state.progress.requestState == expected)
  }

  @Test(
    "A response is awaited only after the last byte of the request, and content only while the reader reads",
    arguments: Situation.allCases)
  func owing(situation: Situation) {
    let expected: ExchangeProgress.Awaited? =
      switch situation {
      case .sent, .firstBytes, .sentAgain: .head
      case .head, .earlyError, .unasked: .content
      case .earlyEnd: .progress
      default: nil
      }
    #expect(situation.state.awaited == expected)
  }

  @Test(
    "Progress of unsent request bytes is awaited first, unless the response's reader is slow",
    arguments: Situation.allCases)
  func unsent(situation: Situation) {
    var state = situation.state
    let before = state.awaited
    state.progress.wrote(10)
    let hasStopped = [.earlyError, .unasked].contains(situation)
    let isOwing = situation.isBusy && !situation.isPaused
    #expect(state.awaited == (hasStopped ? .content : isOwing ? .progress : nil))
    // The measurements find that some bytes were sent, then no bytes, then one byte, then the rest, then no bytes.
    var moves: [Bool] = []
    for (written, unsent) in [(0, 4), (0, 4), (2, 5), (0, 0), (0, 0)] {
      state.progress.wrote(written)
      moves.append(state.progress.measured(unsent: unsent))
    }
    #expect(moves == [true, false, true, true, false])
    #expect(state.awaited == before)
  }

  @Test("The number of unsent bytes is reset when the exchange ends", arguments: Situation.allCases)
  func unsentEnds(situation: Situation) {
    for isBroken in [true, false] {
      var state = situation.state
      state.progress.wrote(10)
      if isBroken {
        state.broken()
      } else {
        switch state.responseCompleted(canReuse: true, isExact: true, isOpen: true) {
        case .reuse, .close: break
        case .sendOn: _ = state.exchangeCompleted()
        case .fail: state.broken()
        }
      }
      #expect(state.progress.unsent == 0 && state.awaited == nil)
    }
  }

  @Test(
    "Bytes that arrive during an exchange are decoded; bytes at any other time close the connection",
    arguments: Situation.allCases
  )
  func arriving(situation: Situation) {
    var state = situation.state
    switch situation {
    case .over: #expect(state.bytesArrived() == .ignore)
    case .new, .used:
      #expect(state.bytesArrived() == .close)
      #expect(state.bytesArrived() == .ignore)
      #expect(state.offered(isOpen: true) { false } == .giveBack)
    // These bytes follow the complete response.
    case .earlyEnd:
      #expect(state.bytesArrived() == .ignore)
      state.progress.requestCompleted()
      #expect(state.exchangeCompleted() == .close)
    default: #expect(state.bytesArrived() == .decode)
    }
  }

  @Test(
    "When the connection closes, the remaining bytes are decoded, the reader is awaited, or the request is resent",
    arguments: Situation.allCases)
  func closing(situation: Situation) {
    for isRepeatable in [true, false] {
      var state = situation.state
      let expected: State.Closing =
        switch situation {
        case .new, .used, .over: .end
        case .paused, .cutShort: .wait
        // Only a reused connection can have been closed as idle.
        case .enteredAgain, .sentAgain: isRepeatable ? .resend : .decodeRest
        case .entered, .sending, .sent, .firstBytes, .head: .decodeRest
        case .earlySuccess, .earlyError, .unasked, .earlyEnd: .decodeRest
        }
      #expect(state.closed(isRepeatable: isRepeatable) == expected)
      #expect(state.isOver == (expected == .end))
      #expect(state.isCutShort == (expected == .wait))
    }
  }

  @Test("Reading pauses once and resumes once", arguments: Situation.allCases)
  func pausing(situation: Situation) {
    var state = situation.state
    #expect(state.pause() == (situation.isBusy && !situation.isPaused))
    #expect(state.progress.resume() == situation.isBusy)
    #expect(state.progress.resume() == false)
  }

  @Test(
    "A connection is reusable only after a complete request and a response without surplus bytes",
    arguments: [true, false],
    [true, false])
  func reuse(canReuse: Bool, isExact: Bool) {
    for isOpen in [true, false] {
      for situation in [Situation.head, .earlyError] {
        var state = situation.state
        let isReusable = canReuse && isExact && isOpen && situation == .head
        let completion = state.responseCompleted(canReuse: canReuse, isExact: isExact, isOpen: isOpen)
        requireEnded(state, completion, isReusable: isReusable)
      }
    }
  }

  private func requireEnded(_ state: State, _ completion: State.Completion, isReusable: Bool) {
    #expect(completion == (isReusable ? .reuse : .close))
    #expect(state.exchange == nil)
    #expect(state.hasServed)
    #expect(state.isOver == !isReusable)
    #expect(state.progress.requestState == .notSent)
    #expect(state.awaited == nil)
    #expect(!state.progress.isIncomplete)
  }

  // MARK: Responses that come before the request is complete

  @Test(
    "After an early response the request continues only if the status is a success and its content is not withheld",
    arguments: Situation.allCases)
  func early(situation: Situation) {
    let state = situation.state
    let isSending = [.sending, .earlySuccess, .earlyEnd].contains(situation)
    #expect(state.progress.isSending == isSending)
    #expect(state.progress.isIncomplete == [.earlySuccess, .unasked, .earlyEnd].contains(situation))
    #expect(state.progress.hasHead == (situation.isEarly || [.head, .paused, .cutShort].contains(situation)))
  }

  @Test("The status of a response does not matter once the request is complete")
  func complete() {
    var state = Situation.sent.state
    var isAsked = false
    func ask() -> Bool {
      isAsked = true
      return false
    }
    #expect(state.headArrived(isSuccess: ask(), isContentHeld: ask()) == false)
    #expect(!isAsked && !state.progress.isIncomplete)
  }

  @Test(
    "After an early success, the exchange continues until the request is complete", arguments: [true, false],
    [true, false])
  func sendingOn(canReuse: Bool, isExact: Bool) {
    var state = Situation.earlySuccess.state
    #expect(state.headArrived(isSuccess: true, isContentWritten: true) == true)
    #expect(state.responseCompleted(canReuse: canReuse, isExact: isExact, isOpen: true) == .sendOn)
    #expect(state.exchange == 1 && state.progress.isIncomplete && state.progress.isSending)
    // The stall timeout stays active. Otherwise a content producer that waits for the end of the exchange would never
    // finish.
    #expect(state.awaited == .progress)
    state.progress.wrote(10)
    #expect(state.progress.measured(unsent: 5) == true)
    #expect(state.awaited == .progress)
    state.progress.requestCompleted()
    #expect(!state.progress.isIncomplete && !state.progress.isSending)
    let completion = state.exchangeCompleted()
    requireEnded(state, completion, isReusable: canReuse && isExact)
  }

  @Test("If the request completes before its early response does, the exchange ends with the response")
  func requestFirst() {
    var state = Situation.earlySuccess.state
    state.progress.requestCompleted()
    #expect(!state.progress.isIncomplete && state.awaited == .content)
    let completion = state.responseCompleted(canReuse: true, isExact: true, isOpen: true)
    requireEnded(state, completion, isReusable: false)
  }

  @Test(
    "A connection is reused after an early success only if all content was written before the head arrived",
    arguments: [true, false])
  func secondResponse(isContentWritten: Bool) {
    for isRequestFirst in [true, false] {
      var state = Situation.earlySuccess.state
      #expect(state.headArrived(isSuccess: true, isContentWritten: isContentWritten) == true)
      if isRequestFirst { state.progress.requestCompleted() }
      var completion = state.responseCompleted(canReuse: true, isExact: true, isOpen: true)
      if !isRequestFirst {
        #expect(completion == .sendOn)
        state.progress.requestCompleted()
        completion = state.exchangeCompleted()
      }
      requireEnded(state, completion, isReusable: isContentWritten)
    }
  }

  @Test("An early success fails if the connection has closed, or if the server did not request the withheld content")
  func incomplete() {
    for (situation, isOpen) in [(Situation.earlySuccess, false), (.unasked, true), (.unasked, false)] {
      var state = situation.state
      #expect(state.responseCompleted(canReuse: true, isExact: true, isOpen: isOpen) == .fail)
      #expect(state.exchange == 1 && state.progress.isIncomplete && state.progress.requestState == .responded)
      state.broken()
      #expect(state.isOver && !state.progress.isIncomplete)
    }
    // The connection ends while the request is still being sent.
    var state = Situation.earlyEnd.state
    #expect(state.closed(isRepeatable: true) == .decodeRest)
    #expect(state.progress.isIncomplete)
  }

  @Test("A slow reader of an early success neither stops the request nor times out")
  func slowReader() {
    var state = Situation.earlySuccess.state
    #expect(state.pause() == true)
    #expect(state.progress.isSending)
    state.progress.wrote(10)
    #expect(state.awaited == nil)
    state.progress.requestCompleted()
    #expect(!state.progress.isIncomplete)
    #expect(state.progress.resume() == true)
    #expect(state.awaited == .progress)
  }

  @Test("Only an idle connection is closed as idle, and only once", arguments: Situation.allCases)
  func closingUnused(situation: Situation) {
    var state = situation.state
    #expect(state.closeIfIdle() == [.new, .used].contains(situation))
    #expect(state.closeIfIdle() == false)
  }

  @Test("An exchange that fails ends the connection", arguments: Situation.allCases)
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
