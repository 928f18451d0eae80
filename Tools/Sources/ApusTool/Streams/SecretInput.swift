import Apus
import Foundation
import Synchronization

/// A reader of a secret: the first line of a file or of standard input, prompted for without echo on a terminal.
struct SecretInput: Sendable {
  /// The maximum length of a secret in bytes.
  static let limit = 64 << 10

  /// The name of the input in messages.
  private let place: String
  private let reader: DescriptorReader
  /// The descriptor that may be a terminal.
  private let descriptor: Int32?

  /// Reads a file; standard input without a path or with `-`.
  init(path: String?) {
    if let path, path != "-" {
      place = path
      reader = DescriptorReader(path: path)
      descriptor = nil
    } else {
      place = "standard input"
      reader = .standardInput()
      descriptor = STDIN_FILENO
    }
  }

  /// Reads an open descriptor.
  init(_ descriptor: Int32, place: String) {
    self.place = place
    self.descriptor = descriptor
    reader = DescriptorReader(descriptor, place: place)
  }

  /// Reads the secret.
  ///
  /// - Parameters:
  ///   - prompt: the prompt.
  ///   - messages: the output for the prompt.
  /// - Throws: ``InputError``, also if the secret is missing; `CancellationError` immediately when the task is
  ///   cancelled.
  func read(prompt: String, messages: DescriptorWriter) async throws -> Secret {
    guard let descriptor, let silence = try SilentTerminal(descriptor, place: place) else { return try await line() }
    // The secret can be typed even without the prompt.
    try? await messages.writeToTheEnd(Data(prompt.utf8))
    let outcome: Result<Secret, any Error>
    do {
      outcome = .success(try await line())
    } catch {
      outcome = .failure(error)
    }
    silence.end()
    // The newline was not echoed, either.
    try? await messages.writeToTheEnd(Data("\n".utf8))
    return try outcome.get()
  }

  private func line() async throws -> Secret {
    var line = Data()
    var isWhole = false
    while !isWhole, let piece = try await reader.next() {
      let end = piece.firstIndex(of: UInt8(ascii: "\n"))
      isWhole = end != nil
      line += piece[..<(end ?? piece.endIndex)]
      guard line.count <= Self.limit else { throw InputError(place: place, reason: "its first line is too long") }
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard !line.isEmpty else { throw InputError(place: place, reason: "its first line is empty") }
    guard let text = String(validating: line, as: UTF8.self) else {
      throw InputError(place: place, reason: "its first line is not UTF-8")
    }
    return Secret(text)
  }
}

/// A terminal with its echo turned off.
struct SilentTerminal {
  /// The previous settings of all silent terminals.
  private static let silent = Mutex<[Int32: termios]>([:])

  private let descriptor: Int32
  private let before: termios

  /// Turns the echo off and drops earlier input, which was echoed. Keys that quit or stop a program are disabled,
  /// because they would leave the echo off.
  ///
  /// - Returns: `nil` if the descriptor is not a terminal.
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
    // Stored before the change, so that the program can restore the terminal at any moment.
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

  /// Turns the echo on again.
  func end() {
    var settings = before
    tcsetattr(descriptor, TCSADRAIN, &settings)
    Self.forget(descriptor)
  }

  /// Restores all terminals, if the program ends immediately.
  static func endAll() {
    for (descriptor, before) in silent.withLock({ $0 }) {
      var settings = before
      tcsetattr(descriptor, TCSANOW, &settings)
    }
  }
}
