import Foundation

/// Something that could not be written.
struct OutputError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was written to, for a person.
  var place: String
  /// The system's number of what went wrong.
  var number: Int32

  /// Whether nobody reads any more.
  var isBrokenPipe: Bool { number == EPIPE }

  var description: String { "Cannot write to \(place): \(SystemText.of(number))." }
}

/// Something that could not be read.
struct InputError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was read, for a person.
  var place: String
  /// Why, as half a sentence.
  var reason: String

  init(place: String, reason: String) {
    self.place = place
    self.reason = reason
  }

  init(place: String, number: Int32) {
    self.init(place: place, reason: SystemText.of(number))
  }

  var description: String { "Cannot read \(place): \(reason)." }
}

/// The system's words.
enum SystemText {
  /// What an error's number means, as half a sentence.
  static func of(_ number: Int32) -> String {
    let text = String(cString: strerror(number))
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
