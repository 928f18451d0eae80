import Foundation

/// Checks members of a request's content one by one and collects what is wrong, so that a person learns it all at once.
struct Validation {
  private(set) var errors: [FieldError] = []

  /// A text that must be there.
  mutating func present(_ field: String, _ value: String?) -> String {
    guard let value, !value.isEmpty else { return fail(field, "is missing") }
    return value
  }

  /// A name: 1 to 100 characters on one line; blanks around it are dropped.
  mutating func name(_ field: String, _ value: String?) -> String {
    text(field, value, longest: 100)
  }

  /// A category of friends: 1 to 40 characters on one line.
  mutating func category(_ field: String, _ value: String?) -> String {
    text(field, value, longest: 40)
  }

  /// An e-mail address, as far as it can be judged without sending a message.
  mutating func email(_ field: String, _ value: String?) -> String {
    let email = text(field, value, longest: 254)
    guard !email.isEmpty else { return "" }
    return Self.isEmail(email) ? email : fail(field, "must be an e-mail address")
  }

  /// A new password: 8 to 200 characters, whichever.
  mutating func password(_ field: String, _ value: String?) -> String {
    guard let value, !value.isEmpty else { return fail(field, "is missing") }
    guard value.count >= 8 else { return fail(field, "must have at least 8 characters") }
    guard value.count <= 200 else { return fail(field, "must have at most 200 characters") }
    return value
  }

  /// Ends the check.
  ///
  /// - Throws: `Problem` with status 422 when anything was wrong.
  func finish() throws(Problem) {
    if !errors.isEmpty { throw .invalid(errors) }
  }

  /// One `@` with something on both sides, a dot within the domain, no blanks.
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

  /// The empty text stands in: it never gets past ``finish()``.
  private mutating func fail(_ field: String, _ message: String) -> String {
    errors.append(FieldError(field: field, message: message))
    return ""
  }
}
