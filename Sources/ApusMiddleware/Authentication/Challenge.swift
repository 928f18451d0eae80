import ApusCore
public import HTTPTypes
import Synchronization

/// A challenge of a server in `WWW-Authenticate` (RFC 9110 §11.3): a scheme and its parameters.
public struct Challenge: Sendable, Hashable {
  /// A parameter of a challenge, its value without quotes and escapes.
  package struct Parameter: Sendable, Hashable {
    /// The name as the server wrote it, compared case-insensitively.
    package let name: String
    /// The value.
    package let value: String

    /// Creates a parameter.
    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The scheme's name as the server wrote it, for example `Basic`, compared case-insensitively.
  public let scheme: String
  /// The `token68` that some schemes have in place of parameters.
  public let token: String?
  /// The parameters, in order.
  package let parameters: [Parameter]

  /// Creates a challenge.
  package init(_ scheme: String, token: String? = nil, parameters: [Parameter] = []) {
    self.scheme = scheme
    self.token = token
    self.parameters = parameters
  }

  /// The value of the first parameter with a name, given in lower case.
  public subscript(_ name: String) -> String? {
    parameters.first { $0.name.lowercased() == name }?.value
  }

  /// Whether the challenge is for a scheme, compared case-insensitively.
  public func matches(scheme: String) -> Bool {
    self.scheme.lowercased() == scheme.lowercased()
  }

  /// The protection space (RFC 9110 §11.5).
  public var realm: String? { self["realm"] }
}

extension Challenge {
  /// Returns the challenges of a response, in order, from its `WWW-Authenticate` fields (RFC 9110 §11.6.1).
  ///
  /// Malformed text is not an error: it is skipped to the end of its line, together with its challenge. The limits are
  /// 32 challenges, 64 parameters for each, and 16 KiB in total.
  ///
  /// - Parameter fields: the fields of the response.
  public static func all(in fields: HTTPFields) -> [Challenge] {
    var parser = ChallengeParser()
    for field in fields[fields: .wwwAuthenticate] {
      guard parser.read(field.withUnsafeBytesOfValue { Array($0) }) else { break }
    }
    return parser.challenges
  }
}

/// The challenges that servers have sent, by protection space, so that the next message answers them in advance (RFC
/// 7617 §2.2, RFC 7616 §3.6).
///
/// A space is a folder of a server with everything below it. Beyond 64 spaces the oldest space is dropped; the next
/// message in that space then costs an additional exchange.
final class ProtectionSpaces: Sendable {
  private struct Space {
    let origin: Origin
    let folder: String
    var challenge: Challenge
  }

  private static let maximumCount = 64

  private let spaces = Mutex<[Space]>([])
  /// Whether there are no spaces. Read without the lock: most authentications never get a challenge.
  private let isEmpty = Atomic(true)

  /// Returns the challenge of the innermost known folder for a message, and the folder's depth.
  func challenge(for request: RequestMessage) -> (challenge: Challenge, depth: Int)? {
    guard !isEmpty.load(ordering: .acquiring), let origin = request.origin else { return nil }
    let path = Self.path(of: request.target)
    return spaces.withLock { spaces in
      spaces.filter { $0.origin == origin && path.utf8.starts(with: $0.folder.utf8) }
        .max { $0.folder.utf8.count < $1.folder.utf8.count }
        .map { ($0.challenge, $0.folder.utf8.count) }
    }
  }

  /// Stores a challenge.
  ///
  /// - Parameter isWhole: whether the challenge applies to the whole server, not only to the folder of the message.
  func store(_ challenge: Challenge, from request: RequestMessage, isWhole: Bool) {
    guard let origin = request.origin else { return }
    let folder = isWhole ? "/" : Self.folder(of: Self.path(of: request.target))
    isEmpty.store(false, ordering: .releasing)
    spaces.withLock { spaces in
      if let index = spaces.firstIndex(where: { $0.origin == origin && $0.folder == folder }) {
        spaces[index].challenge = challenge
        return
      }
      if spaces.count == Self.maximumCount { spaces.removeFirst() }
      spaces.append(Space(origin: origin, folder: folder, challenge: challenge))
    }
  }

  /// Removes all challenges, because challenges for one account may not apply to the next account.
  func removeAll() {
    spaces.withLock { $0 = [] }
  }

  private static func path(of target: String) -> Substring {
    Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") })
  }

  private static func folder(of path: Substring) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "/" }
    return String(path[...slash])
  }
}

/// A parser of `WWW-Authenticate` lines (RFC 9110 §11.6.1), in one pass and with limits.
///
/// Commas separate challenges as well as parameters: a word followed by `=` is a parameter of the challenge before it,
/// any other word begins a challenge.
struct ChallengeParser {
  static let maximumChallenges = 32
  /// For each challenge.
  static let maximumParameters = 64
  /// For all lines together.
  static let maximumBytes = 16 << 10

  private enum Halt: Error {
    /// The rest of the line is malformed.
    case malformed
    /// A limit is exceeded.
    case full
  }

  private(set) var challenges: [Challenge] = []
  /// The parts of the challenge that is being read.
  private var draft: (scheme: String, token: String?, parameters: [Challenge.Parameter])?
  private var remainingBytes = Self.maximumBytes

  /// Reads a line.
  ///
  /// The rest of a malformed or too long line is skipped together with the incomplete challenge, since a truncated
  /// challenge could have another meaning.
  ///
  /// - Returns: whether another line may be read.
  mutating func read(_ line: [UInt8]) -> Bool {
    guard line.count <= remainingBytes else { return false }
    remainingBytes -= line.count
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

  /// Reads the `token68` or the first parameter after the name of a scheme, if any.
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
    guard draft.parameters.count < Self.maximumParameters else { throw .full }
    self.draft?.parameters.append(Challenge.Parameter(name, value))
  }

  private mutating func begin(_ scheme: String) throws(Halt) {
    finish()
    guard challenges.count < Self.maximumChallenges else { throw .full }
    draft = (scheme, nil, [])
  }

  /// Completes the challenge that is being read.
  private mutating func finish() {
    guard let draft else { return }
    challenges.append(Challenge(draft.scheme, token: draft.token, parameters: draft.parameters))
    self.draft = nil
  }
}

/// A cursor that reads the elements of the grammar (RFC 9110 §5.6) from the value of a field.
///
/// It moves back at most to the start of the current element.
struct ChallengeCursor {
  private let bytes: [UInt8]
  private var index = 0

  /// Creates a cursor at the start.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  @discardableResult
  private mutating func read(while isIncluded: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let slice = bytes[index...].prefix(while: isIncluded)
    index = slice.endIndex
    return slice
  }

  /// Skips spaces and tabs.
  ///
  /// - Returns: whether there were spaces or tabs.
  @discardableResult
  mutating func skipSpaces() -> Bool {
    !read(while: \.isBlank).isEmpty
  }

  /// Skips to the next element of a list, past empty elements (RFC 9110 §5.6.1.2).
  ///
  /// - Returns: whether there is a next element.
  mutating func skipToElement() -> Bool {
    read { $0.isBlank || $0 == UInt8(ascii: ",") }
    return next != nil
  }

  /// Whether an element of a list ends here, at a comma or at the end, after optional spaces.
  mutating func endsElement() -> Bool {
    skipSpaces()
    return next == nil || next == UInt8(ascii: ",")
  }

  /// Reads a token (RFC 9110 §5.6.2); `nil` if there is no token.
  mutating func token() -> String? {
    let token = read(while: Self.isTokenCharacter)
    return token.isEmpty ? nil : Self.text(token)
  }

  /// Reads `=` with optional spaces around it. Moves back if there is no `=`.
  ///
  /// - Returns: whether there was an `=`.
  mutating func equalsSign() -> Bool {
    let start = index
    skipSpaces()
    guard next == UInt8(ascii: "=") else {
      index = start
      return false
    }
    index += 1
    skipSpaces()
    return true
  }

  /// Reads a `token68` (RFC 9110 §11.2) up to the end of its element. Returns `nil` and moves back if the element is
  /// not a `token68`.
  mutating func token68() -> String? {
    let start = index
    let hasText = !read(while: Self.isToken68Character).isEmpty
    read { $0 == UInt8(ascii: "=") }
    let end = index
    guard hasText, endsElement() else {
      index = start
      return nil
    }
    return Self.text(bytes[start..<end])
  }

  /// Reads the value of a parameter; `nil` if there is no value.
  ///
  /// Many servers leave out required quotes, around URLs for example: an unquoted value ends at the next space or
  /// comma.
  mutating func value() -> String? {
    if next == UInt8(ascii: "\"") { return quotedString() }
    let value = read(while: Self.isUnquotedCharacter)
    return value.isEmpty ? nil : Self.text(value)
  }

  /// Reads a quoted string without quotes and escapes (RFC 9110 §5.6.4); `nil` if the string does not end, or contains
  /// a control character.
  private mutating func quotedString() -> String? {
    var content: [UInt8] = []
    var isEscaped = false
    for position in bytes[index...].indices.dropFirst() {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\""), !isEscaped {
        index = position + 1
        return Self.text(content[...])
      }
      if byte == UInt8(ascii: "\\"), !isEscaped {
        isEscaped = true
        continue
      }
      guard byte == 0x09 || (byte >= 0x20 && byte != 0x7F) else { return nil }
      content.append(byte)
      isEscaped = false
    }
    return nil
  }
}

extension ChallengeCursor {
  /// Decodes UTF-8, or else ISO-8859-1, which older servers send.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  private static func isToken68Character(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || "-._~+/".utf8.contains(byte)
  }

  /// Whether a byte is a visible character other than a quotation mark, a comma and a backslash.
  private static func isUnquotedCharacter(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && !"\",\\".utf8.contains(byte)
  }
}
