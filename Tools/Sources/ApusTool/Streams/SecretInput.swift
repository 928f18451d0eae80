import Apus
import Foundation

/// Reads a secret: the first line of a file or of the standard input, where it is asked for on a terminal and not shown.
struct SecretInput: Sendable {
  /// The most bytes of a secret.
  static let limit = 64 << 10

  /// What is read, for a person.
  private let place: String
  private let reader: DescriptorReader
  /// What may be a terminal.
  private let descriptor: Int32?

  /// Reads a file; standard input where there is no path, or a hyphen for one.
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

  /// Reads what is open.
  init(_ descriptor: Int32, place: String) {
    self.place = place
    self.descriptor = descriptor
    reader = DescriptorReader(descriptor, place: place)
  }

  /// The secret.
  ///
  /// - Parameters:
  ///   - prompt: asks for it.
  ///   - messages: where that is written.
  /// - Throws: ``InputError``, also where there is none; `CancellationError` at once when the task is cancelled.
  func read(prompt: String, messages: DescriptorWriter) async throws -> Secret {
    guard let descriptor, let silence = try SilentTerminal(descriptor, place: place) else { return try await line() }
    // Where the question cannot be written, the answer may come all the same.
    try? await messages.writeToTheEnd(Data(prompt.utf8))
    let outcome: Result<Secret, any Error>
    do {
      outcome = .success(try await line())
    } catch {
      outcome = .failure(error)
    }
    silence.end()
    // The end of the line was not shown either.
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
      throw InputError(place: place, reason: "its first line is no text in UTF-8")
    }
    return Secret(text)
  }
}
