import Foundation
import Testing

@testable import ApusTool

@Suite("Silent terminals")
struct SilentTerminalTests {
  /// The settings of a terminal.
  private struct Settings: Equatable {
    var echoes: Bool
    var quits: cc_t
    var stops: cc_t

    init(of terminal: Int32) throws {
      var settings = termios()
      let result = tcgetattr(terminal, &settings)
      try #require(result == 0)
      echoes = settings.c_lflag & tcflag_t(ECHO) != 0
      let keys = withUnsafeBytes(of: settings.c_cc) { Array($0) }
      (quits, stops) = (keys[Int(VQUIT)], keys[Int(VSUSP)])
    }
  }

  // A single test, because `endAll` affects the terminals of other tests.
  @Test("Input is not echoed, and no key can end the program with the echo off")
  func silence() throws {
    var (own, program): (Int32, Int32) = (-1, -1)
    let result = openpty(&own, &program, nil, nil, nil)
    try #require(result == 0)
    let ends = [own, program]
    defer { for end in ends { close(end) } }
    let before = try Settings(of: program)
    let none = cc_t(truncatingIfNeeded: fpathconf(program, Int32(_PC_VDISABLE)))
    #expect(before.echoes && before.quits != none && before.stops != none)
    for endsAll in [false, true] {
      let begun = try SilentTerminal(program, place: "terminal")
      let silence = try #require(begun)
      let during = try Settings(of: program)
      #expect(!during.echoes && during.quits == none && during.stops == none)
      if endsAll { SilentTerminal.endAll() } else { silence.end() }
      #expect(try Settings(of: program) == before)
      silence.end()
    }
  }
}
