import Foundation
import Testing

@testable import ApusTool

@Suite("Interruptions")
struct InterruptionTests {
  @Test("work begins once every signal that ends the program is taken, and so is never ended half done")
  func beginning() async {
    let numbers = [SIGHUP, SIGINT, SIGTERM]
    // The tests themselves are ended by such signals.
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
