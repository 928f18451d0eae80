import Foundation
import Synchronization

/// Keeps a terminal from showing what is typed.
struct SilentTerminal {
  /// The terminals that are silent now, as they were before.
  private static let silent = Mutex<[Int32: termios]>([:])

  private let descriptor: Int32
  private let before: termios

  /// Begins. What was typed before is forgotten: it has been shown. The keys that quit or stop a program do nothing,
  /// since they would leave the terminal silent.
  ///
  /// - Returns: `nil` where the descriptor is no terminal.
  /// - Throws: ``InputError``
  init?(_ descriptor: Int32, place: String) throws(InputError) {
    guard isatty(descriptor) == 1 else { return nil }
    var settings = termios()
    guard tcgetattr(descriptor, &settings) == 0 else { throw InputError(place: place, number: errno) }
    let before = settings
    self.descriptor = descriptor
    self.before = before
    settings.c_lflag &= ~tcflag_t(ECHO)
    Self.turnOffKeys(of: &settings, descriptor)
    // Known before it is silent, so that at no moment the program can end and leave it so.
    Self.silent.withLock { $0[descriptor] = before }
    guard tcsetattr(descriptor, TCSAFLUSH, &settings) == 0 else {
      let number = errno
      Self.forget(descriptor)
      throw InputError(place: place, number: number)
    }
  }

  private static func turnOffKeys(of settings: inout termios, _ descriptor: Int32) {
    let none = cc_t(truncatingIfNeeded: fpathconf(descriptor, Int32(_PC_VDISABLE)))
    #if canImport(Darwin)
      let keys = [VQUIT, VSUSP, VDSUSP]
    #else
      let keys = [VQUIT, VSUSP]
    #endif
    withUnsafeMutableBytes(of: &settings.c_cc) { bytes in
      for key in keys { bytes[Int(key)] = none }
    }
  }

  private static func forget(_ descriptor: Int32) {
    silent.withLock { _ = $0.removeValue(forKey: descriptor) }
  }

  /// Lets it show again what is typed.
  func end() {
    var settings = before
    tcsetattr(descriptor, TCSADRAIN, &settings)
    Self.forget(descriptor)
  }

  /// Lets all show again what is typed, at once: the program ends here and now.
  static func endAll() {
    for (descriptor, before) in silent.withLock({ $0 }) {
      var settings = before
      tcsetattr(descriptor, TCSANOW, &settings)
    }
  }
}
