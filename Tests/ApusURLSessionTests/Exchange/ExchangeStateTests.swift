import ApusCore
import Testing

@testable import ApusURLSession

@Suite("Exchange state")
struct ExchangeStateTests {
  typealias Action = ExchangeState.Action

  /// What can happen to an exchange.
  enum Event: String, CaseIterable, Sendable {
    case start, head, followedHead, piece, tooMuch, redirect, redirectRefused, challenge, cancel, shutDown, attemptEnd
    case endWell, endBadly, endCancelled

    func apply(to state: inout ExchangeState) -> [Action] {
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
      "an answer is handed over at its head, its content as it arrives",
      [
        (.start, [.resumeTask]), (.head, [.answer]), (.piece, [.deliver]), (.piece, [.deliver]),
        (.endWell, [.finishContent, .forget]),
      ]),
    .buffered(
      "an answer is handed over once, at its end",
      [
        (.start, [.resumeTask]), (.head, [.reportHead]), (.piece, [.reportPiece]), (.piece, [.reportPiece]),
        (.endWell, [.answer, .forget]),
      ]),
    .streamed(
      "content that breaks off fails",
      [(.start, [.resumeTask]), (.head, [.answer]), (.endBadly, [.failContent(.platform), .forget])]),
    .buffered(
      "content that breaks off fails the answer",
      [(.start, [.resumeTask]), (.head, [.reportHead]), (.endBadly, [.fail(.platform), .forget])]),
    .buffered(
      "content that is too much fails the answer and stops the task",
      [
        (.start, [.resumeTask]), (.head, [.reportHead]), (.tooMuch, [.fail(.contentTooLarge), .cancelTask]),
        (.piece, []), (.endCancelled, [.forget]),
      ]),
    .buffered(
      "an end without a head is no answer",
      [(.start, [.resumeTask]), (.endWell, [.fail(.headless), .forget])]),
    .buffered(
      "a failure before the head is the platform's",
      [(.start, [.resumeTask]), (.endBadly, [.fail(.platform), .forget])]),
    .buffered(
      "a cancellation before the start is told at the start, and nothing runs",
      [(.cancel, [.cancelTask]), (.start, [.fail(.cancelled)]), (.endCancelled, [.forget])]),
    .buffered(
      "an attempt whose time is up before the head fails, and stops the task",
      [
        (.start, [.resumeTask]), (.attemptEnd, [.fail(.attemptOver(.awaitingHead, .maybeSent)), .cancelTask]),
        (.attemptEnd, []), (.head, []), (.endCancelled, [.forget]),
      ]),
    .buffered(
      "an attempt whose time is up before the start has sent nothing",
      [
        (.attemptEnd, [.cancelTask]), (.start, [.fail(.attemptOver(.connecting, .notSent))]),
        (.endCancelled, [.forget]),
      ]),
    .streamed(
      "the time of an attempt means nothing once the head is there",
      [
        (.start, [.resumeTask]), (.head, [.answer]), (.attemptEnd, []), (.piece, [.deliver]),
        (.endWell, [.finishContent, .forget]),
      ]),
    .buffered(
      "the time of an attempt means nothing for content that is collected",
      [(.start, [.resumeTask]), (.head, [.reportHead]), (.attemptEnd, []), (.endWell, [.answer, .forget])]),
    .buffered(
      "a task that ends before the start is told at the start",
      [(.endBadly, [.forget]), (.start, [.fail(.platform)])]),
    .buffered(
      "a cancellation is answered before the task is stopped, and only once",
      [
        (.start, [.resumeTask]), (.cancel, [.fail(.cancelled), .cancelTask]), (.cancel, []), (.shutDown, []),
        (.endCancelled, [.forget]),
      ]),
    .streamed(
      "a cancellation while content arrives fails the content",
      [
        (.start, [.resumeTask]), (.head, [.answer]), (.cancel, [.failContent(.cancelled), .cancelTask]),
        (.piece, []), (.endCancelled, [.forget]),
      ]),
    .streamed(
      "a cancellation after the end changes nothing",
      [(.start, [.resumeTask]), (.head, [.answer]), (.endWell, [.finishContent, .forget]), (.cancel, [])]),
    .buffered(
      "a redirect is refused and becomes the answer",
      [
        (.start, [.resumeTask]), (.redirect, [.refuseRedirect]), (.redirectRefused, []), (.head, [.reportHead]),
        (.endWell, [.answer, .forget]),
      ]),
    .buffered(
      "a redirect that somebody follows is handed over at its head, whatever was wanted",
      [
        (.start, [.resumeTask]), (.redirect, [.refuseRedirect]), (.redirectRefused, []), (.followedHead, [.answer]),
        (.piece, [.deliver]), (.cancel, [.failContent(.cancelled), .cancelTask]), (.endCancelled, [.forget]),
      ]),
    .buffered(
      "a cancellation waits until a redirect is refused",
      [
        (.start, [.resumeTask]), (.redirect, [.refuseRedirect]), (.cancel, [.fail(.cancelled)]),
        (.redirectRefused, [.cancelTask]), (.endCancelled, [.forget]),
      ]),
    .buffered(
      "a redirect that comes after a cancellation is not answered at all",
      [(.start, [.resumeTask]), (.cancel, [.fail(.cancelled), .cancelTask]), (.redirect, []), (.redirectRefused, [])]),
    .buffered(
      "a task that ended is not stopped after a redirect was refused",
      [
        (.start, [.resumeTask]), (.redirect, [.refuseRedirect]), (.cancel, [.fail(.cancelled)]),
        (.endCancelled, [.forget]), (.redirectRefused, []),
      ]),
    .buffered(
      "a refused challenge makes a cancelled task a good end",
      [
        (.start, [.resumeTask]), (.head, [.reportHead]), (.challenge, []), (.endCancelled, [.answer, .forget]),
      ]),
    .streamed(
      "a refused challenge does not make another failure a good end",
      [
        (.start, [.resumeTask]), (.head, [.answer]), (.challenge, []),
        (.endBadly, [.failContent(.platform), .forget]),
      ]),
    .streamed("a second head is nothing", [(.start, [.resumeTask]), (.head, [.answer]), (.head, [])]),
    .streamed("content without a head is nothing", [(.start, [.resumeTask]), (.piece, [])]),
    .streamed(
      "a task ends once", [(.start, [.resumeTask]), (.endBadly, [.fail(.platform), .forget]), (.endWell, [])]),
  ]

  @Test("leads from each event to what the table says", arguments: rows)
  func table(row: Row) {
    var state = ExchangeState(isBuffered: row.isBuffered)
    for (number, (event, expected)) in row.steps.enumerated() {
      #expect(event.apply(to: &state) == expected, "step \(number + 1), \(event)")
    }
  }

  /// Counts what must happen once, for one order of events.
  struct Ledger {
    var answers = 0
    var contentEnds = 0
    var forgets = 0
    var isStreaming = false

    mutating func note(_ actions: [Action], isBuffered: Bool) {
      for action in actions {
        switch action {
        case .answer:
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
    "the phase of an attempt whose time is up says whether the request is known to have left",
    arguments: [true, false])
  func attemptPhase(hasSentAll: Bool) {
    var state = ExchangeState(isBuffered: true)
    _ = state.start()
    let actions = state.attemptEnded(hasSentAll: hasSentAll)
    #expect(actions.first == .fail(.attemptOver(hasSentAll ? .awaitingHead : .connecting, .maybeSent)))
  }

  @Test("answers every wait exactly once, in every order of four events", arguments: [true, false])
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
    #expect(orders == 38_416)
  }

  /// Whoever waits comes first or after one event; the task ends at last, as every task does.
  private func check(_ events: [Event], _ isBuffered: Bool) {
    var state = ExchangeState(isBuffered: isBuffered)
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
