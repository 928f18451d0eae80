/// Reads challenges line by line (RFC 9110 §11.6.1): in one pass, and no more than there is room for.
///
/// Commas separate challenges as well as parameters: a word that `=` follows is a parameter of the challenge before it,
/// any other begins a challenge.
struct ChallengeParser {
  /// The most challenges.
  static let mostChallenges = 32
  /// The most parameters of one challenge.
  static let mostParameters = 64
  /// The most bytes of all lines together.
  static let mostBytes = 16 << 10

  private enum Halt: Error {
    /// The rest of the line cannot be read.
    case malformed
    /// There is more than there is room for.
    case full
  }

  private struct Draft {
    let scheme: String
    var token: String?
    var parameters: [Challenge.Parameter] = []
  }

  /// What was read so far.
  private(set) var challenges: [Challenge] = []
  /// The challenge that is being read.
  private var draft: Draft?
  private var room = Self.mostBytes

  /// Reads a line.
  ///
  /// Where it is malformed or too long, the rest is dropped, and with it the challenge that it breaks off: half of one
  /// would ask for something else than the server does.
  ///
  /// - Returns: whether there is room for another line.
  mutating func read(_ line: [UInt8]) -> Bool {
    guard line.count <= room else { return false }
    room -= line.count
    defer { draft = nil }
    var cursor = ChallengeCursor(line)
    do throws(Halt) {
      while cursor.skipToElement() { try readElement(&cursor) }
      finish()
      return true
    } catch {
      return error == .malformed
    }
  }

  private mutating func readElement(_ cursor: inout ChallengeCursor) throws(Halt) {
    guard let word = cursor.token() else { throw .malformed }
    if cursor.equalsSign() {
      try readParameter(word, &cursor)
    } else {
      try begin(word)
      if cursor.skipSpaces() { try readFirst(&cursor) }
    }
    guard cursor.endsElement() else { throw .malformed }
  }

  /// What stands behind the name of a scheme, before any comma.
  private mutating func readFirst(_ cursor: inout ChallengeCursor) throws(Halt) {
    if let token = cursor.token68() {
      draft?.token = token
    } else if let name = cursor.token() {
      guard cursor.equalsSign() else { throw .malformed }
      try readParameter(name, &cursor)
    }
  }

  private mutating func readParameter(_ name: String, _ cursor: inout ChallengeCursor) throws(Halt) {
    guard let draft, draft.token == nil, let value = cursor.value() else { throw .malformed }
    guard draft.parameters.count < Self.mostParameters else { throw .full }
    self.draft?.parameters.append(Challenge.Parameter(name, value))
  }

  private mutating func begin(_ scheme: String) throws(Halt) {
    finish()
    guard challenges.count < Self.mostChallenges else { throw .full }
    draft = Draft(scheme: scheme)
  }

  /// The challenge that is being read is complete.
  private mutating func finish() {
    guard let draft else { return }
    challenges.append(Challenge(draft.scheme, token: draft.token, parameters: draft.parameters))
    self.draft = nil
  }
}
