import Foundation
import Testing

@testable import ApusTool

@Suite("Interruptions")
struct InterruptionTests {
  @Test("Work starts after the signal handlers are installed")
  func beginning() async {
    let numbers = [SIGHUP, SIGINT, SIGTERM]
    // The test process itself has the default handlers.
    defer { for number in numbers { signal(number, SIG_DFL) } }
    _ = await Interruption.during {
      for number in numbers {
        let handler = Interruption.handler(of: number)
        #expect(handler != nil && handler != unsafeBitCast(SIG_DFL, to: Int.self), "signal \(number)")
      }
      return .accepted
    }
  }
}
