/// A parser of JSON texts (RFC 8259) into values.
///
/// It keeps its own stack and calls itself nowhere, so that deep nesting costs memory of the heap up to the limit and
/// none of the thread's stack. Finished values lie on one flat stack; a container takes its own off the end when it
/// closes, so that nothing is copied twice.
struct JSONParser {
  /// An array or object that is not closed yet.
  private struct Frame {
    let isObject: Bool
    /// Where its values begin on the stack.
    let start: Int
  }

  /// What the next token may be.
  private enum State {
    case value
    /// A value, or the end of an array that has none.
    case firstElement
    /// A key, or the end of an object that has none.
    case firstKey
    case key
    /// A comma, or the end of the container.
    case afterValue
  }

  private var scanner: JSONScanner
  private let limits: JSONLimits
  private let isWanted: ((String) -> Bool)?
  private var frames: [Frame] = []
  private var values: [JSONValue] = []
  private var keys: [String] = []
  private var state = State.value
  /// The depth of the member that is read over, because nobody wants it.
  private var skippedDepth: Int?

  /// - Parameter isWanted: which members of the outermost object are kept; `nil`: all. The others are checked only.
  init(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits, isWanted: ((String) -> Bool)? = nil) {
    scanner = JSONScanner(bytes)
    self.limits = limits
    self.isWanted = isWanted
  }

  mutating func parse() throws(JSONError) -> JSONValue {
    scanner.skipByteOrderMark()
    repeat {
      scanner.skipWhitespace()
      try step()
    } while !frames.isEmpty
    scanner.skipWhitespace()
    guard scanner.next == nil else { throw scanner.error(.trailingBytes) }
    return values.popLast() ?? .null
  }

  private mutating func step() throws(JSONError) {
    switch state {
    case .firstElement where scanner.take(UInt8(ascii: "]")): close()
    case .firstKey where scanner.take(UInt8(ascii: "}")): close()
    case .value, .firstElement: try value()
    case .key, .firstKey: try key()
    case .afterValue: try separator()
    }
  }

  private mutating func separator() throws(JSONError) {
    let isObject = frames.last?.isObject ?? false
    if scanner.take(UInt8(ascii: ",")) {
      state = isObject ? .key : .value
    } else if scanner.take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
      close()
    } else {
      throw scanner.unexpected
    }
  }

  private mutating func key() throws(JSONError) {
    guard scanner.next == UInt8(ascii: "\"") else { throw scanner.unexpected }
    let start = scanner.offset
    let key = try scanner.string()
    guard !key.hasLongRunOfMarks else { throw JSONError(.tooManyMarks, at: start) }
    if skippedDepth == nil {
      if frames.count == 1, let isWanted, !isWanted(key) { skippedDepth = 1 } else { keys.append(key) }
    }
    scanner.skipWhitespace()
    guard scanner.take(UInt8(ascii: ":")) else { throw scanner.unexpected }
    state = .value
  }

  private mutating func value() throws(JSONError) {
    switch scanner.next {
    case UInt8(ascii: "{"): try open(isObject: true)
    case UInt8(ascii: "["): try open(isObject: false)
    case UInt8(ascii: "\""):
      if skippedDepth == nil { finish(.string(try scanner.string())) } else { try scanner.skipString() }
      ended()
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")):
      if skippedDepth == nil { finish(.number(try scanner.number())) } else { try scanner.skipNumber() }
      ended()
    case UInt8(ascii: "t"): try literal("true", .bool(true))
    case UInt8(ascii: "f"): try literal("false", .bool(false))
    case UInt8(ascii: "n"): try literal("null", .null)
    default: throw scanner.unexpected
    }
  }

  private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONError) {
    try scanner.literal(text)
    finish(value)
    ended()
  }

  private mutating func open(isObject: Bool) throws(JSONError) {
    guard frames.count < limits.depth else { throw scanner.error(.tooDeep) }
    scanner.advance()
    frames.append(Frame(isObject: isObject, start: values.count))
    state = isObject ? .firstKey : .firstElement
  }

  private mutating func close() {
    guard let frame = frames.popLast() else { return }
    if skippedDepth == nil {
      let value: JSONValue =
        frame.isObject ? .object(members(from: frame.start)) : .array(Array(values[frame.start...]))
      // Nothing else may hold the stack here, or each end of a container copies all of it.
      values.removeLast(values.count - frame.start)
      values.append(value)
    }
    ended()
  }

  /// Takes the names of an object's members off their stack. The last of several with one name counts, as in most
  /// readers.
  private mutating func members(from start: Int) -> [String: JSONValue] {
    let count = values.count - start
    let firstKey = keys.count - count
    var members = [String: JSONValue](minimumCapacity: count)
    for index in 0..<count { members[keys[firstKey + index]] = values[start + index] }
    keys.removeLast(count)
    return members
  }

  private mutating func finish(_ value: JSONValue) {
    if skippedDepth == nil { values.append(value) }
  }

  /// A value is complete.
  private mutating func ended() {
    if skippedDepth == frames.count { skippedDepth = nil }
    state = .afterValue
  }
}

extension String {
  /// Whether so many combining marks follow each other that comparing and hashing the text takes too long: the time
  /// grows with the square of their number, since they are sorted.
  fileprivate var hasLongRunOfMarks: Bool {
    guard utf8.count > 256 else { return false }
    var marks = 0
    for scalar in unicodeScalars {
      guard scalar.value >= 0x300 else {
        marks = 0
        continue
      }
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .spacingMark, .enclosingMark: marks += 1
      default: marks = 0
      }
      if marks > 128 { return true }
    }
    return false
  }
}
