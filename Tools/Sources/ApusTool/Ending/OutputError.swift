import Foundation

/// An output that cannot be written.
struct OutputError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the output.
  var place: String
  /// The system's error number.
  var number: Int32
  /// The reason, as part of a sentence, if the system's message would be misleading; `nil` for the system's message.
  var reason: String?

  /// Whether the reader closed the pipe.
  var isBrokenPipe: Bool { number == EPIPE }

  var description: String { "Cannot write to \(place): \(reason ?? SystemText.of(number))." }
}

/// An input that cannot be read.
struct InputError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the input.
  var place: String
  /// The reason, as part of a sentence.
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

/// The system's error messages.
enum SystemText {
  /// Returns the message of an error number, as part of a sentence.
  static func of(_ number: Int32) -> String {
    let text = String(cString: strerror(number))
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}

/// An invalid command line.
struct PlanError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason, as a sentence.
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Creates the error for an invalid URL.
  init(_ malformed: TargetURL.Malformed) {
    self.init("\(malformed.description.prefix(1).uppercased())\(malformed.description.dropFirst()).")
  }
}
