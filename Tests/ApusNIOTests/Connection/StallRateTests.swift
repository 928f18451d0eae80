import ApusCore
import NIOCore
import NIOEmbedded
import Testing

@testable import ApusNIO

/// An upload in virtual time: bytes leave in steps, and progress is measured every second.
@Suite("Slowest upload rate")
struct StallRateTests {
  private final class Upload {
    let loop = EmbeddedEventLoop()
    var state = ConnectionState<Int>()
    var stalledAt: NIODeadline?
    lazy var watchdog = Watchdog(loop: loop) { [weak self] _ in self?.timedOut() }
    private let limit: TimeAmount
    private var left: Int

    init(_ count: Int, limit: TimeAmount) {
      (left, self.limit) = (count, limit)
      state.entered(1)
      state.progress.requestBegun()
      state.progress.wrote(count)
      expect()
    }

    var isDone: Bool { left == 0 }

    func leave(_ count: Int) { left = max(0, left - count) }

    func look() -> Bool {
      let hasMoved = state.progress.measured(unsent: left)
      if hasMoved { expect() }
      return hasMoved
    }

    private func expect() {
      if state.awaited == .progress { watchdog.allow(limit, in: .connecting) } else { watchdog.clear() }
    }

    private func timedOut() {
      if !look() { stalledAt = stalledAt ?? loop.now }
    }
  }

  /// Bytes per second, bytes per step, and whether such an upload stalls with a timeout of 20 seconds.
  private static let cases: [(rate: Int, step: Int, isStall: Bool)] = [
    (16_384, 8192, false), (40_960, 196_608, false), (16_384, 196_608, false), (1460, 1460, false),
    (80, 1460, false), (70, 1460, true), (512, 8192, false), (420, 8192, false), (390, 8192, true),
    (3500, 65_536, false), (3000, 65_536, true),
  ]

  @Test("An upload stalls only if no step of it is acknowledged within the stall timeout", arguments: cases.indices)
  func rates(index: Int) {
    let (rate, step, isStall) = Self.cases[index]
    let upload = Upload(10 * step, limit: .seconds(20))
    let interval = TimeAmount.milliseconds(Int64(step) * 1000 / Int64(rate))
    var next = upload.loop.now + interval
    var nextLook = upload.loop.now + .seconds(1)
    while !upload.isDone, upload.stalledAt == nil {
      let instant = min(next, nextLook)
      upload.loop.advanceTime(to: instant)
      if instant == next {
        upload.leave(step)
        next = next + interval
      }
      if instant == nextLook {
        _ = upload.look()
        nextLook = nextLook + .seconds(1)
      }
    }
    #expect((upload.stalledAt != nil) == isStall)
  }

  @Test("An upload without progress stalls one timeout after the last measurement with progress")
  func never() {
    let upload = Upload(1000, limit: .seconds(20))
    upload.loop.advanceTime(by: .milliseconds(19_999))
    #expect(upload.stalledAt == nil)
    upload.leave(1)
    // The watchdog fires and measures that a byte has left.
    upload.loop.advanceTime(by: .milliseconds(19_999))
    #expect(upload.stalledAt == nil)
    upload.loop.advanceTime(by: .milliseconds(2))
    #expect(upload.stalledAt == .uptimeNanoseconds(40_000_000_000))
  }
}
