import Foundation
import Testing

/// A terminal without a screen: what a program writes to one end is read at the other.
final class PseudoTerminal: Sendable {
  private let own: Int32
  /// The end that a program is given.
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

  /// Whether it shows what is typed.
  var echoes: Bool {
    var settings = termios()
    return tcgetattr(program, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Everything that was written, once no program has the other end any more.
  func shown() -> String {
    var all = Data()
    var bytes = [UInt8](repeating: 0, count: 4096)
    // Our own hold on the program's end must go, or the end never comes.
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
