#if NIO
  import ApusCore
  import NIOCore
  import NIOEmbedded
  import Testing

  @testable import ApusNIO

  /// An upload in virtual time: bytes leave in steps, and somebody looks every second.
  @Suite("Stalls: the slowest rate")
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
        state.requestBegun()
        state.wrote(count)
        expect()
      }

      var isDone: Bool { left == 0 }

      func leave(_ count: Int) { left = max(0, left - count) }

      func look() -> Bool {
        let hasMoved = state.looked(unsent: left)
        if hasMoved { expect() }
        return hasMoved
      }

      private func expect() {
        if state.owed == .room { watchdog.allow(limit, in: .connecting) } else { watchdog.clear() }
      }

      private func timedOut() {
        if !look() { stalledAt = stalledAt ?? loop.now }
      }
    }

    /// Bytes a second, bytes a step, and whether that is a stall at a limit of 20 seconds.
    private static let cases: [(rate: Int, step: Int, isStall: Bool)] = [
      (16_384, 8192, false), (40_960, 196_608, false), (16_384, 196_608, false), (1460, 1460, false),
      (80, 1460, false), (70, 1460, true), (512, 8192, false), (420, 8192, false), (390, 8192, true),
      (3500, 65_536, false), (3000, 65_536, true),
    ]

    @Test("an upload stalls only where no step of it is confirmed within the limit", arguments: cases.indices)
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

    @Test("an upload of which nothing more leaves is a stall after the limit, from the last look that saw a byte leave")
    func never() {
      let upload = Upload(1000, limit: .seconds(20))
      upload.loop.advanceTime(by: .milliseconds(19_999))
      #expect(upload.stalledAt == nil)
      upload.leave(1)
      // Rings, looks, and sees that a byte has left.
      upload.loop.advanceTime(by: .milliseconds(19_999))
      #expect(upload.stalledAt == nil)
      upload.loop.advanceTime(by: .milliseconds(2))
      #expect(upload.stalledAt == .uptimeNanoseconds(40_000_000_000))
    }
  }
#endif
