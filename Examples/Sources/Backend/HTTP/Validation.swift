import Foundation

/// A validator that collects the errors of all members of a request's content, so that one response reports them all.
struct Validation {
  private(set) var errors: [FieldError] = []

  /// Validates a text that must be present.
  mutating func present(_ field: String, _ value: String?) -> String {
    guard let value, !value.isEmpty else { return fail(field, "is missing") }
    return value
  }

  /// Validates a name: 1 to 100 characters on one line, trimmed.
  mutating func name(_ field: String, _ value: String?) -> String {
    text(field, value, longest: 100)
  }

  /// Validates a category of friends: 1 to 40 characters on one line, trimmed.
  mutating func category(_ field: String, _ value: String?) -> String {
    text(field, value, longest: 40)
  }

  /// Validates the form of an e-mail address.
  mutating func email(_ field: String, _ value: String?) -> String {
    let email = text(field, value, longest: 254)
    guard !email.isEmpty else { return "" }
    return Self.isEmail(email) ? email : fail(field, "must be an e-mail address")
  }

  /// Validates a new password: 8 to 200 characters.
  mutating func password(_ field: String, _ value: String?) -> String {
    guard let value, !value.isEmpty else { return fail(field, "is missing") }
    guard value.count >= 8 else { return fail(field, "must have at least 8 characters") }
    guard value.count <= 200 else { return fail(field, "must have at most 200 characters") }
    return value
  }

  /// Ends the validation.
  ///
  /// - Throws: `Problem` with status 422 if there were errors.
  func finish() throws(Problem) {
    if !errors.isEmpty { throw .invalid(errors) }
  }

  /// Whether a text has one `@` with text on both sides, a dot within the domain, and no white space.
  static func isEmail(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !text.contains(where: \.isWhitespace) else { return false }
    let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
  }

  private mutating func text(_ field: String, _ value: String?, longest: Int) -> String {
    let text = value?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    guard !text.isEmpty else { return fail(field, value == nil ? "is missing" : "is empty") }
    guard text.count <= longest else { return fail(field, "must have at most \(longest) characters") }
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      return fail(field, "must not have control characters")
    }
    return text
  }

  /// Records an error. Returns an empty text as a placeholder; ``finish()`` throws before it is used.
  private mutating func fail(_ field: String, _ message: String) -> String {
    errors.append(FieldError(field: field, message: message))
    return ""
  }
}
