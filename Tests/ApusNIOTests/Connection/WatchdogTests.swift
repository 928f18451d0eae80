import ApusCore
import NIOCore
import NIOEmbedded
import Testing

@testable import ApusNIO

@Suite("Watchdog")
struct WatchdogTests {
  /// A watchdog on a loop whose time the test moves, and the phases it reported.
  private final class Kennel {
    let loop = EmbeddedEventLoop()
    private(set) var told: [CallPhase] = []
    lazy var watchdog = Watchdog(loop: loop) { [weak self] in self?.told.append($0) }
  }

  @Test("A watchdog fires once when its timeout has passed, and not before")
  func fires() {
    let kennel = Kennel()
    kennel.watchdog.allow(.milliseconds(10), in: .awaitingHead)
    kennel.loop.advanceTime(by: .milliseconds(9))
    #expect(kennel.told.isEmpty)
    kennel.loop.advanceTime(by: .milliseconds(1))
    #expect(kennel.told == [.awaitingHead])
    kennel.loop.advanceTime(by: .seconds(10))
    #expect(kennel.told == [.awaitingHead])
  }

  @Test("Every setting of a watchdog's timeout restarts the timeout, and a shorter timeout ends sooner")
  func setAgain() {
    let kennel = Kennel()
    kennel.watchdog.allow(.milliseconds(10), in: .awaitingHead)
    for _ in 0..<5 {
      kennel.loop.advanceTime(by: .milliseconds(8))
      kennel.watchdog.allow(.milliseconds(10), in: .receiving)
    }
    #expect(kennel.told.isEmpty)
    kennel.watchdog.allow(.milliseconds(2), in: .connecting)
    kennel.loop.advanceTime(by: .milliseconds(2))
    #expect(kennel.told == [.connecting])
  }

  @Test("A watchdog does not fire without a timeout, or after it was cleared or stopped")
  func cleared() {
    let kennel = Kennel()
    kennel.watchdog.allow(.milliseconds(10), in: .awaitingHead)
    kennel.watchdog.clear()
    kennel.loop.advanceTime(by: .seconds(1))
    kennel.watchdog.allow(.milliseconds(10), in: .awaitingHead)
    kennel.watchdog.allow(nil, in: .receiving)
    kennel.loop.advanceTime(by: .seconds(1))
    kennel.watchdog.allow(.milliseconds(10), in: .awaitingHead)
    kennel.watchdog.stop()
    kennel.loop.advanceTime(by: .seconds(1))
    #expect(kennel.told.isEmpty)
  }
}
