/// A parsed JSON text, from which values are decoded in any order and any number of times.
///
/// A document is not `Sendable`, because lookups write bookmarks into the tape, which speed up the next lookup.
/// Decoders and containers retain their document, so they can be used after the decoding that created them has
/// returned.
package final class JSONDocument {
  let tape: JSONTape
  let coding: JSONCoding
  let types = TypeClasses.shared
  private let convertsKeys: Bool
  /// The indexes of objects that are large or have duplicate names.
  private var indexes: [Int: NameIndex] = [:]
  /// The line of the error that was located last, and the offset of its first byte.
  private var lastLine = (number: 1, start: 0, offset: 0)
  var arrayTypes: [ObjectIdentifier: any TapeDecodable.Type] = [:]
  var lastReadable: (any JSONReadable.Type)?
  var stack: StackBudget

  /// Parses a text.
  ///
  /// - Throws: ``JSONError``.
  package convenience init(
    _ bytes: UnsafeRawBufferPointer, _ coding: JSONCoding = .default, limits: JSONLimits = JSONLimits()
  ) throws(JSONError) {
    try self.init(bytes, coding, limits: limits, stack: StackBudget())
  }

  /// - Parameter stack: the stack budget of the surrounding decoding.
  init(
    _ bytes: UnsafeRawBufferPointer, _ coding: JSONCoding, limits: JSONLimits = JSONLimits(), stack: StackBudget
  ) throws(JSONError) {
    tape = try TapeParser.parse(bytes, limits: limits)
    self.coding = coding
    convertsKeys = coding.keys == .snakeCase
    self.stack = stack
  }

  /// Decodes the value of the text.
  ///
  /// - Parameter depth: the number of containers around the text, which count toward the nesting limit of models.
  ///   Default: 0.
  package func decode<T: Decodable>(_ type: T.Type, depth: Int = 0) throws -> T {
    try decode(type, at: JSONTape.root, depth)
  }

  // MARK: Members

  /// The number of members up to which names are compared one after the other.
  private static let mostComparedNames = 16

  /// Returns the position of a member's value, or `nil` if there is no such member.
  ///
  /// - Parameter isWrittenInSource: whether the name is from a coding key in source code. Used in errors.
  func position(of name: String, in object: Int, isWrittenInSource: Bool) -> Int? {
    if convertsKeys { return converted(name, in: object, isWrittenInSource) }
    var name = name
    return name.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      let found = tape[object].kind == .object ? compared(bytes, in: object) : indexed(bytes, in: object)
      if found != 0 {
        tape.setBookmark(of: object, to: found, ordinal: isWrittenInSource ? 1 : 0)
        return found + 1
      }
      return bytes.contains { $0 >= 0x80 } ? equivalent(bytes, in: object) : nil
    }
  }

  /// Returns the position of a name, or 0. The search starts after the name that was found last.
  private func compared(_ name: UnsafeRawBufferPointer, in object: Int) -> Int {
    let header = tape[object]
    let wanted = JSONWord(.string, length: name.count, high: 0).low
    let start = JSONTape.start(of: object)
    let last = tape.bookmark(of: object).position
    var position = last == 0 ? start : tape.position(after: last + 1)
    for count in 0..<header.length {
      if position == header.high { position = start }
      if tape.isText(tape[position], name, wanted) { return position }
      if count == 0, header.length > Self.mostComparedNames { return indexed(name, in: object) }
      position = tape.position(after: position + 1)
    }
    return 0
  }

  /// Looks up a key in the index of an object. Returns the key's position, or 0.
  private func indexed(_ key: UnsafeRawBufferPointer, in object: Int) -> Int {
    let index = indexes[object] ?? makeIndex(of: object)
    if index.hasCollisions { return lastName(in: object) { isKey($0, key) } ?? 0 }
    guard let position = index.positions[NameIndex.hash(key)], isKey(tape[position], key) else { return 0 }
    return position
  }

  /// Creates an index. Of several members with the same name it contains the last member, as in most parsers.
  private func makeIndex(of object: Int) -> NameIndex {
    let header = tape[object]
    var index = NameIndex(capacity: header.length)
    for name in names(of: object) {
      var isSame = true
      withKey(tape[name]) { bytes in
        if let other = index.positions.updateValue(name, forKey: NameIndex.hash(bytes)) {
          isSame = isKey(tape[other], bytes)
        }
      }
      if !isSame { index.hasCollisions = true }
    }
    let isPlain = !convertsKeys && names(of: object).allSatisfy { tape[$0].kind == .string }
    if isPlain, index.positions.count == header.length {
      tape.replace(object, with: JSONWord(.object, length: header.length, high: header.high))
    }
    indexes[object] = index
    return index
  }

  /// Whether a name equals a key, after conversion if the coding converts names.
  private func isKey(_ word: JSONWord, _ key: UnsafeRawBufferPointer) -> Bool {
    guard word.kind == .string, !convertsKeys else { return self.key(word).utf8.elementsEqual(key) }
    return tape.isText(word, key, JSONWord(.string, length: key.count, high: 0).low)
  }

  private func withKey(_ word: JSONWord, _ use: (UnsafeRawBufferPointer) -> Void) {
    guard word.kind == .escapedString || convertsKeys else { return use(tape.text(word)) }
    var key = key(word)
    key.withUTF8 { use(UnsafeRawBufferPointer($0)) }
  }

  /// Returns the position of the value with a canonically equivalent name, as in Swift's string comparison.
  private func equivalent(_ name: UnsafeRawBufferPointer, in object: Int) -> Int? {
    let name = String(decoding: name, as: UTF8.self)
    return lastName(in: object) { string($0) == name }.map { $0 + 1 }
  }

  /// Returns the position of the value whose name in snake case is converted to a given name.
  private func converted(_ name: String, in object: Int, _ isWrittenInSource: Bool) -> Int? {
    var found = 0
    let last = tape.bookmark(of: object).position
    if last != 0, tape[object].kind == .object {
      let next = tape.position(after: last + 1)
      if next < tape[object].high, isSnakeCase(tape[next], of: name) { found = next }
    }
    if found == 0, tape[object].length > Self.mostComparedNames {
      var name = name
      found = name.withUTF8 { indexed(UnsafeRawBufferPointer($0), in: object) }
    } else if found == 0 {
      found = lastName(in: object) { isSnakeCase($0, of: name) } ?? 0
    }
    guard found != 0 else { return nil }
    tape.setBookmark(of: object, to: found, ordinal: isWrittenInSource ? 1 : 0)
    return found + 1
  }

  private func isSnakeCase(_ word: JSONWord, of name: String) -> Bool {
    if word.kind == .string, let isEqual = SnakeCase.isEqual(tape.text(word), toCamelCase: name) { return isEqual }
    return string(word).camelCased == name
  }

  /// Returns the positions of an object's names, in order.
  func names(of object: Int) -> some Sequence<Int> {
    let end = tape[object].high
    let first = JSONTape.start(of: object)
    return sequence(state: first) { [self] position in
      guard position < end else { return nil }
      defer { position = tape.position(after: position + 1) }
      return position
    }
  }

  private func lastName(in object: Int, where isWanted: (JSONWord) -> Bool) -> Int? {
    var found: Int?
    for name in names(of: object) where isWanted(tape[name]) { found = name }
    return found
  }

  @inline(__always) func string(_ word: JSONWord) -> String { tape.string(word) }

  /// Returns the name of a member in the form of a coding key.
  func key(_ word: JSONWord) -> String {
    convertsKeys ? string(word).camelCased : string(word)
  }

  // MARK: Errors

  /// Returns the coding path of a value. It is derived from the tape, so decoding need not track it.
  func codingPath(of target: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var container = JSONTape.root
    while container < target, tape[container].isContainer {
      let isObject = tape[container].isObject
      let bookmark = tape.bookmark(of: container)
      var (child, index) = (JSONTape.start(of: container), 0)
      if bookmark.position != 0, bookmark.position <= target {
        (child, index) = (bookmark.position, isObject ? 0 : bookmark.ordinal)
      }
      while true {
        let value = isObject ? child + 1 : child
        let next = tape.position(after: value)
        guard target >= next, next < tape[container].high else {
          path.append(
            isObject ? JSONKey(key(tape[child]), isWrittenInSource: bookmark.ordinal == 1) : JSONKey(index: index))
          container = value
          break
        }
        (child, index) = (next, index + 1)
      }
    }
    return path
  }

  /// Locates a value. Counts lines from the last located value, so that many errors in order take linear time.
  func location(of position: Int, _ cause: (any Error)? = nil) -> JSONLocation {
    location(atOffset: tape.offset(of: position), cause)
  }

  func location(atOffset offset: Int, _ cause: (any Error)?) -> JSONLocation {
    if offset < lastLine.offset { lastLine = (1, 0, 0) }
    let newLine = UInt8(ascii: "\n")
    for index in lastLine.offset..<offset where tape.all[index] == newLine {
      (lastLine.number, lastLine.start) = (lastLine.number + 1, index + 1)
    }
    lastLine.offset = offset
    return JSONLocation(offset: offset, line: lastLine.number, column: offset - lastLine.start + 1, cause: cause)
  }
}

/// The positions of an object's names by their hashes. Swift's hashes are seeded, so that a server cannot choose names
/// that collide.
private struct NameIndex {
  var positions: [Int: Int] = [:]
  /// Whether different names have the same hash, so that names must be compared one after the other.
  var hasCollisions = false

  init(capacity: Int) { positions.reserveCapacity(capacity) }

  static func hash(_ name: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: name)
    return hasher.finalize()
  }
}
