import Testing

@testable import ApusCore

private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

/// The events of a call, second by second.
private struct Story: Sendable, CustomTestStringConvertible {
  enum Step: Sendable {
    case moved(Int64, at: Int)
    case paused(at: Int)
  }

  let testDescription: String
  var limit = 30
  var stall = 20
  var start = 0
  let steps: [Step]
  /// The second in which the call ends, and the reason; `nil` if the call does not end within 1,000 seconds.
  let end: (second: Int, expiry: CallTimeLimit.Expiry)?

  static func steady(_ seconds: ClosedRange<Int>, _ bytes: Int64 = 1 << 20) -> [Step] {
    seconds.map { .moved(bytes, at: $0) }
  }
}

@Suite("The default timeout and content transfer")
struct CallTimeLimitTests {
  private static let stories = [
    Story(testDescription: "nothing ever moves", steps: [], end: (30, .total)),
    Story(testDescription: "a limit shorter than the stall", limit: 5, steps: [], end: (5, .total)),
    Story(
      testDescription: "steady content for 500 s", steps: Story.steady(1...500) + [.paused(at: 500)], end: (529, .total)
    ),
    Story(testDescription: "content stops without an end", steps: Story.steady(1...36), end: (56, .stall)),
    Story(testDescription: "one byte and no more", steps: [.moved(1, at: 3)], end: (23, .stall)),
    Story(testDescription: "the first byte at the last moment", steps: [.moved(1, at: 29)], end: (49, .stall)),
    Story(testDescription: "the first byte too late", steps: [.moved(1, at: 30)], end: (30, .total)),
    Story(
      testDescription: "an upload of 40 s, then an answer that does not come",
      steps: Story.steady(2...42) + [.paused(at: 42)], end: (70, .total)),
    Story(
      testDescription: "an upload of 40 s, a head after 10 s, a download of 100 s",
      steps: Story.steady(2...42) + [.paused(at: 42)] + Story.steady(52...152) + [.paused(at: 152)],
      end: (170, .total)),
    Story(
      testDescription: "two attempts that break off leave what they did not take",
      steps: [.moved(9, at: 5), .paused(at: 15), .moved(9, at: 20), .paused(at: 35)], end: (55, .total)),
    Story(
      testDescription: "content so slow that it is none",
      steps: Story.steady(0...300, 1023), end: (60, .floor)),
    Story(testDescription: "content just fast enough", steps: Story.steady(0...300, 1024), end: (320, .stall)),
    Story(
      testDescription: "fast content that becomes slow",
      steps: Story.steady(0...90, 1 << 20) + Story.steady(91...400, 10), end: (180, .floor)),
    Story(
      testDescription: "a piece now and then, each 19 s late",
      steps: stride(from: 0, through: 190, by: 19).map { .moved(1 << 20, at: $0) }, end: (210, .stall)),
    Story(testDescription: "a stall limit of its own", stall: 45, steps: [.moved(1 << 20, at: 1)], end: (46, .stall)),
    Story(testDescription: "a stall limit beyond the window", stall: 600, steps: [.moved(9, at: 1)], end: (61, .floor)),
    Story(testDescription: "a short stall limit", stall: 2, steps: Story.steady(20...25), end: (27, .stall)),
  ]

  /// Checks the limit as the timer would, at the instants it returns.
  private func end(of story: Story) -> (second: Int, expiry: CallTimeLimit.Expiry)? {
    var limit = CallTimeLimit(.seconds(story.limit), stall: .seconds(story.stall), since: at(story.start))
    var movement = ContentTransfer()
    var alarm = limit.firstCheck
    var steps = story.steps[...]
    for second in 0...1000 {
      while alarm <= at(second) {
        switch limit.verdict(at: at(second), movement) {
        case .over(let expiry): return (second, expiry)
        case .waits(let instant):
          #expect(instant > at(second))
          alarm = instant
        }
      }
      while let step = steps.first {
        switch step {
        case .moved(let count, second): movement.moved(count, at: at(second))
        case .paused(second): movement.paused(at: at(second))
        default: break
        }
        guard step.second == second else { break }
        steps.removeFirst()
      }
    }
    return nil
  }

  @Test(
    "The default timeout runs while no content is transferred; during a transfer, a stall or a low rate ends the call",
    arguments: stories)
  private func ends(story: Story) throws {
    let end = end(of: story)
    #expect(end?.second == story.end?.second && end?.expiry == story.end?.expiry)
  }

  @Test("A transfer of ten minutes needs at most 42 checks of its time limit")
  func rareAlarms() {
    var limit = CallTimeLimit(.seconds(30), since: at(0))
    var movement = ContentTransfer()
    var alarms = 0
    var alarm = limit.firstCheck
    for second in 0...600 {
      movement.moved(1 << 20, at: at(second))
      guard alarm <= at(second) else { continue }
      alarms += 1
      guard case .waits(let next) = limit.verdict(at: at(second), movement) else { return }
      alarm = next
    }
    #expect(alarms <= 42)
  }

  @Test("A call that joins an exchange gains no time from content that the exchange transferred earlier")
  func sharing() {
    var movement = ContentTransfer()
    movement.moved(1, at: at(0))
    movement.paused(at: at(25))
    let limit = CallTimeLimit(.seconds(30), since: at(40)).sharing(after: movement.time(at: at(40)))
    #expect(limit.due(movement, at: at(40)) == at(70))
    movement.moved(1, at: at(50))
    movement.paused(at: at(60))
    #expect(limit.due(movement, at: at(60)) == at(80))
  }

  @Test("Progress reports that arrive out of order reduce neither the byte count nor the last instant")
  func disorder() {
    var movement = ContentTransfer()
    movement.moved(5, at: at(9))
    movement.moved(-5, at: at(4))
    #expect(movement.last == at(9) && movement.bytes == 5)
    movement.paused(at: at(8))
    movement.paused(at: at(50))
    #expect(movement.time(at: at(99)) == .zero)
  }
}

extension Story.Step {
  fileprivate var second: Int {
    switch self {
    case .moved(_, let second), .paused(let second): second
    }
  }
}
