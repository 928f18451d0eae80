import ApusCore
import Testing

@testable import ApusURLSession

@Suite("Exchange state")
struct SessionExchangeStateTests {
  typealias Action = SessionExchangeState.Action

  /// The events of an exchange.
  enum Event: String, CaseIterable, Sendable {
    case start, head, followedHead, piece, tooMuch, redirect, redirectRefused, challenge, cancel, shutDown, attemptEnd
    case endWell, endBadly, endCancelled, endIncomplete, breakIncomplete

    func apply(to state: inout SessionExchangeState) -> [Action] {
      switch self {
      case .start: return state.start()
      case .head: return state.headArrived()
      case .followedHead: return state.headArrived(isFollowed: true)
      case .piece: return state.pieceArrived(fits: true)
      case .tooMuch: return state.pieceArrived(fits: false)
      case .redirect: return state.redirectArrived()
      case .redirectRefused: return state.redirectRefused()
      case .challenge:
        state.challengeArrived()
        return []
      case .cancel: return state.end(.cancelled)
      case .shutDown: return state.end(.shutDown)
      case .attemptEnd: return state.attemptEnded(hasSentAll: true)
      case .endWell: return state.taskEnded(withError: false, isCancellation: false)
      case .endBadly: return state.taskEnded(withError: true, isCancellation: false)
      case .endIncomplete: return state.taskEnded(withError: false, isCancellation: false, isIncomplete: true)
      case .breakIncomplete: return state.taskEnded(withError: true, isCancellation: false, isIncomplete: true)
      case .endCancelled: return state.taskEnded(withError: true, isCancellation: true)
      }
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isBuffered: Bool
    let steps: [(Event, [Action])]

    static func streamed(_ what: String, _ steps: [(Event, [Action])]) -> Row {
      Row(testDescription: "streamed: " + what, isBuffered: false, steps: steps)
    }

    static func buffered(_ what: String, _ steps: [(Event, [Action])]) -> Row {
      Row(testDescription: "buffered: " + what, isBuffered: true, steps: steps)
    }
  }

  static let rows: [Row] = [
    .streamed(
      "the response is delivered at its head, its content as it arrives",
      [
        (.start, [.resumeTask]), (.head, [.deliverResponse]), (.piece, [.deliverPiece]), (.piece, [.deliverPiece]),
        (.endWell, [.finishContent, .forget]),
      ]),
    .buffered(
      "the response is delivered once, at its end",
      [
        (.start, [.resumeTask]), (.head, [.reportHead]), (.piece, [.reportPiece]), (.piece, [.reportPiece]),
        (.endWell, [.deliverResponse, .forget]),
      ]),
    .streamed(
      "truncated content fails",
      [(.start, [.resumeTask]), (.head, [.deliverResponse]), (.endBadly, [.failContent(.platform), .forget])]),
    .buffered(
      "truncated content fails a buffered response",
      [(.start, [.resumeTask]), (.head, [.reportHead]), (.endBadly, [.fail(.platform), .forget])]),
    .buffered(
      "content beyond the limit fails the response and cancels the task",
      [
        (.start, [.resumeTask]), (.head, [.reportHead]), (.tooMuch, [.fail(.contentTooLarge), .cancelTask]),
        (.piece, []), (.endCancelled, [.forget]),
      ]),
    .buffered(
      "a success fails if the content was not sent completely",
      [(.start, [.resumeTask]), (.head, [.reportHead]), (.endIncomplete, [.fail(.incompleteRequest), .forget])]),
    .streamed(
      "the content of a success fails if the request's content was not sent completely",
      [
        (.start, [.resumeTask]), (.head, [.deliverResponse]),
        (.breakIncomplete, [.failContent(.incompleteRequest), .forget]),
      ]),
    .buffered(
      "an end without a head fails the caller",
      [(.start, [.resumeTask]), (.endWell, [.fail(.headless), .forget])]),
    .buffered(
      "a failure before the head is the platform's",
      [(.start, [.resumeTask]), (.endBadly, [.fail(.platform), .forget])]),
    .buffered(
      "a cancellation before the start fails the caller at the start, and the task does not run",
      [(.cancel, [.cancelTask]), (.start, [.fail(.cancelled)]), (.endCancelled, [.forget])]),
    .buffered(
      "an attempt that times out before the head fails, and its task is cancelled",
      [
        (.start, [.resumeTask]), (.attemptEnd, [.fail(.attemptOver(.awaitingHead, .maybeSent)), .cancelTask]),
        (.attemptEnd, []), (.head, []), (.endCancelled, [.forget]),
      ]),
    .buffered(
      "an attempt that times out before the start has sent nothing",
      [
        (.attemptEnd, [.cancelTask]), (.start, [.fail(.attemptOver(.connecting, .notSent))]),
        (.endCancelled, [.forget]),
      ]),
    .streamed(
      "an attempt does not time out after its head",
      [
        (.start, [.resumeTask]), (.head, [.deliverResponse]), (.attemptEnd, []), (.piece, [.deliverPiece]),
        (.endWell, [.finishContent, .forget]),
      ]),
    .buffered(
      "an attempt does not time out while content is collected",
      [(.start, [.resumeTask]), (.head, [.reportHead]), (.attemptEnd, []), (.endWell, [.deliverResponse, .forget])]),
    .buffered(
      "a task that ends before the start fails the caller at the start",
      [(.endBadly, [.forget]), (.start, [.fail(.platform)])]),
    .buffered(
      "a cancellation fails the caller before the task is cancelled, and only once",
      [
        (.start, [.resumeTask]), (.cancel, [.fail(.cancelled), .cancelTask]), (.cancel, []), (.shutDown, []),
        (.endCancelled, [.forget]),
      ]),
    .streamed(
      "a cancellation while content arrives fails the content",
      [
        (.start, [.resumeTask]), (.head, [.deliverResponse]), (.cancel, [.failContent(.cancelled), .cancelTask]),
        (.piece, []), (.endCancelled, [.forget]),
      ]),
    .streamed(
      "a cancellation after the end changes nothing",
      [(.start, [.resumeTask]), (.head, [.deliverResponse]), (.endWell, [.finishContent, .forget]), (.cancel, [])]),
    .buffered(
      "a redirect is refused and becomes the response",
      [
        (.start, [.resumeTask]), (.redirect, [.refuseRedirect]), (.redirectRefused, []), (.head, [.reportHead]),
        (.endWell, [.deliverResponse, .forget]),
      ]),
    .buffered(
      "a redirect that is followed is delivered at its head, even if the call is buffered",
      [
        (.start, [.resumeTask]), (.redirect, [.refuseRedirect]), (.redirectRefused, []),
        (.followedHead, [.deliverResponse]),
        (.piece, [.deliverPiece]), (.cancel, [.failContent(.cancelled), .cancelTask]), (.endCancelled, [.forget]),
      ]),
    .buffered(
      "a cancellation waits until a redirect is refused",
      [
        (.start, [.resumeTask]), (.redirect, [.refuseRedirect]), (.cancel, [.fail(.cancelled)]),
        (.redirectRefused, [.cancelTask]), (.endCancelled, [.forget]),
      ]),
    .buffered(
      "a redirect after a cancellation gets no response",
      [(.start, [.resumeTask]), (.cancel, [.fail(.cancelled), .cancelTask]), (.redirect, []), (.redirectRefused, [])]),
    .buffered(
      "a task that has ended is not cancelled after a redirect was refused",
      [
        (.start, [.resumeTask]), (.redirect, [.refuseRedirect]), (.cancel, [.fail(.cancelled)]),
        (.endCancelled, [.forget]), (.redirectRefused, []),
      ]),
    .buffered(
      "a refused challenge makes a cancelled task a success",
      [
        (.start, [.resumeTask]), (.head, [.reportHead]), (.challenge, []),
        (.endCancelled, [.deliverResponse, .forget]),
      ]),
    .streamed(
      "a refused challenge does not make another failure a success",
      [
        (.start, [.resumeTask]), (.head, [.deliverResponse]), (.challenge, []),
        (.endBadly, [.failContent(.platform), .forget]),
      ]),
    .streamed("a second head is ignored", [(.start, [.resumeTask]), (.head, [.deliverResponse]), (.head, [])]),
    .streamed("content without a head is ignored", [(.start, [.resumeTask]), (.piece, [])]),
    .streamed(
      "a task ends once", [(.start, [.resumeTask]), (.endBadly, [.fail(.platform), .forget]), (.endWell, [])]),
  ]

  @Test("Each event returns the actions in the table", arguments: rows)
  func table(row: Row) {
    var state = SessionExchangeState(isBuffered: row.isBuffered)
    for (number, (event, expected)) in row.steps.enumerated() {
      #expect(event.apply(to: &state) == expected, "step \(number + 1), \(event)")
    }
  }

  /// The numbers of the actions that must occur exactly once in a sequence of events.
  struct Ledger {
    var answers = 0
    var contentEnds = 0
    var forgets = 0
    var isStreaming = false

    mutating func note(_ actions: [Action], isBuffered: Bool) {
      for action in actions {
        switch action {
        case .deliverResponse:
          answers += 1
          isStreaming = !isBuffered
        case .fail: answers += 1
        case .finishContent, .failContent: contentEnds += 1
        case .forget: forgets += 1
        default: break
        }
      }
    }
  }

  @Test(
    "The phase of an attempt that timed out depends on whether the request is known to have left",
    arguments: [true, false])
  func attemptPhase(hasSentAll: Bool) {
    var state = SessionExchangeState(isBuffered: true)
    _ = state.start()
    let actions = state.attemptEnded(hasSentAll: hasSentAll)
    #expect(actions.first == .fail(.attemptOver(hasSentAll ? .awaitingHead : .connecting, .maybeSent)))
  }

  @Test("Every wait ends exactly once in every order of four events", arguments: [true, false])
  func everyOrder(isBuffered: Bool) {
    var orders = 0
    func explore(_ events: [Event]) {
      if events.count == 4 {
        orders += 1
        check(events, isBuffered)
        return
      }
      for event in Event.allCases { explore(events + [event]) }
    }
    explore([])
    #expect(orders == 65_536)
  }

  /// Checks a sequence of events. The caller starts to wait before or after the first event; the end of the task is the
  /// last event.
  private func check(_ events: [Event], _ isBuffered: Bool) {
    var state = SessionExchangeState(isBuffered: isBuffered)
    var ledger = Ledger()
    var hasStarted = false
    for event in events where event != .start || !hasStarted {
      hasStarted = hasStarted || event == .start
      ledger.note(event.apply(to: &state), isBuffered: state.isBuffered)
    }
    if !hasStarted { ledger.note(state.start(), isBuffered: state.isBuffered) }
    ledger.note(Event.endWell.apply(to: &state), isBuffered: state.isBuffered)
    let isRight = ledger.answers == 1 && ledger.forgets == 1 && ledger.contentEnds == (ledger.isStreaming ? 1 : 0)
    if !isRight { Issue.record("\(events): \(ledger)") }
  }
}
