import Foundation
import Testing

/// A pseudo-terminal: input and output of a program at one end, the test at the other.
final class PseudoTerminal: Sendable {
  private let own: Int32
  /// The program's end.
  let program: Int32

  init() throws {
    var (own, program): (Int32, Int32) = (-1, -1)
    var size = winsize()
    (size.ws_row, size.ws_col) = (24, 80)
    let result = openpty(&own, &program, nil, nil, &size)
    try #require(result == 0)
    (self.own, self.program) = (own, program)
  }

  /// Types a short text.
  func enter(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(own, bytes, bytes.count)
  }

  /// Whether input is echoed.
  var echoes: Bool {
    var settings = termios()
    return tcgetattr(program, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Waits until the program has closed its end. Returns all output.
  func shown() -> String {
    var all = Data()
    var bytes = [UInt8](repeating: 0, count: 4096)
    // If the test's copy of the program's end stayed open, reading would never end.
    close(program)
    while case let count = bytes.withUnsafeMutableBytes({ read(own, $0.baseAddress, $0.count) }), count > 0 {
      all += bytes.prefix(count)
    }
    return String(decoding: all, as: UTF8.self)
  }

  deinit {
    close(own)
  }
}
