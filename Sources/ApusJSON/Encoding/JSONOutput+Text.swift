extension JSONOutput {
  /// Encodes a value as JSON in UTF-8, with the members of objects sorted by name.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - coding: the coding.
  ///   - depth: the number of containers around the text, for its indentation. Default: 0.
  ///   - copy: converts the text to the result.
  /// - Throws: `EncodingError`; errors of the type itself.
  package static func encode<T: Encodable, Output>(
    _ value: T, _ coding: JSONCoding, depth: Int = 0, _ copy: (UnsafeRawBufferPointer) -> Output
  ) throws -> Output {
    try JSONOutput(coding, depth: depth, stack: StackBudget()).text(of: value, depth, copy)
  }

  /// Encodes the top-level value.
  func text<T: Encodable, Output>(
    of value: T, _ depth: Int, _ copy: (UnsafeRawBufferPointer) -> Output
  ) throws -> Output {
    try encode(value, as: Self.root)
    guard self[Self.root].kind != .empty else { throw error(value, "The value encodes nothing.", at: Self.root) }
    // The offsets of a node have 32 bits.
    guard self.text.count <= Int(UInt32.max) else { throw error(value, "The text exceeds 4 GiB.", at: Self.root) }
    var text = JSONText(capacity: self.text.count + 64)
    write(to: &text, depth)
    return copy(text.all)
  }

  /// Writes all values with an explicit stack instead of recursion, so that deep values do not overflow the thread's
  /// stack.
  private func write(to text: inout JSONText, _ outerDepth: Int) {
    // A stack of nodes still to write. `~node` marks the end of the container `node`.
    var nodes: [Int] = []
    nodes.reserveCapacity(32)
    nodes.append(Self.root)
    var (depth, isFirst) = (outerDepth, true)
    while let node = nodes.popLast() {
      guard node >= 0 else {
        depth -= 1
        if coding.isPrettyPrinted {
          if isFirst { text.append(UInt8(ascii: "\n")) }
          newLine(depth, &text)
        }
        text.append(self[~node].kind == .array ? UInt8(ascii: "]") : UInt8(ascii: "}"))
        isFirst = false
        continue
      }
      let value = self[node]
      if !isFirst { text.append(UInt8(ascii: ",")) }
      if coding.isPrettyPrinted, node != Self.root { newLine(depth, &text) }
      // Only members have names.
      let isMember = value.nameEnd > 0
      if value.kind == .scalar, isMember, value.first == value.nameEnd + 1, !coding.isPrettyPrinted {
        text.append(self.text.slice(Int(value.start), Int(value.end)))
      } else {
        if isMember {
          text.append(self.text.slice(Int(value.start), Int(value.nameEnd)))
          text.append(coding.isPrettyPrinted ? " : " : ":")
        }
        if value.kind == .scalar { text.append(self.text.slice(Int(value.first), Int(value.end))) }
      }
      isFirst = false
      if value.kind != .scalar {
        // A value that encoded nothing is written as an empty object.
        text.append(value.kind == .array ? UInt8(ascii: "[") : UInt8(ascii: "{"))
        nodes.append(~node)
        appendChildren(of: value, to: &nodes)
        (depth, isFirst) = (depth + 1, true)
      }
    }
  }

  private func newLine(_ depth: Int, _ text: inout JSONText) {
    text.append(UInt8(ascii: "\n"))
    for _ in 0..<depth { text.append("  ") }
  }

  /// Appends the children of a container in reverse order. Members of an object are sorted by name, and only the last
  /// of several members with the same name is appended.
  private func appendChildren(of container: JSONNode, to children: inout [Int]) {
    let start = children.count
    var child = Int(container.first)
    while children.count < start + Int(container.length) {
      children.append(child)
      child = Int(self[child].next)
    }
    var (first, last) = (start, children.count - 1)
    while first < last {
      children.swapAt(first, last)
      (first, last) = (first + 1, last - 1)
    }
    if container.kind == .object { sort(&children, from: start) }
  }

  private func sort(_ children: inout [Int], from start: Int) {
    var hasEqualNames = false
    // Children with the same name stay in the order in which they were added.
    func isBefore(_ one: Int, _ other: Int) -> Bool {
      if let isOrdered = isOrdered(one, other) { return isOrdered }
      hasEqualNames = true
      return one < other
    }
    if children.count - start > 32 {
      children[start...].sort { isBefore($1, $0) }
    } else {
      for index in start..<children.count {
        let child = children[index]
        var place = index
        while place > start, isBefore(children[place - 1], child) {
          children[place] = children[place - 1]
          place -= 1
        }
        children[place] = child
      }
    }
    if hasEqualNames { removeReplaced(&children, from: start) }
  }

  /// Removes all but the first of adjacent children with the same name; because of the reverse order, the first child
  /// is the child that was added last.
  private func removeReplaced(_ children: inout [Int], from start: Int) {
    var kept = start
    for index in start..<children.count {
      if index > start, isOrdered(children[kept - 1], children[index]) == nil { continue }
      children[kept] = children[index]
      kept += 1
    }
    children.removeLast(children.count - kept)
  }

  /// Whether the name of a member comes before the name of another member; `nil` if the names are equal.
  @inline(__always) private func isOrdered(_ one: Int, _ other: Int) -> Bool? {
    let (one, other) = (self[one], self[other])
    if one.prefix != other.prefix { return one.prefix < other.prefix }
    return isOrderedAfterPrefix(one, other)
  }

  private func isOrderedAfterPrefix(_ one: JSONNode, _ other: JSONNode) -> Bool? {
    let one = text.slice(Int(one.start) + 1, Int(one.nameEnd) - 1)
    let other = text.slice(Int(other.start) + 1, Int(other.nameEnd) - 1)
    if one.elementsEqual(other) { return nil }
    guard !one.contains(UInt8(ascii: "\\")), !other.contains(UInt8(ascii: "\\")) else {
      return JSONEscape.string(one).utf8.lexicographicallyPrecedes(JSONEscape.string(other).utf8)
    }
    return one.lexicographicallyPrecedes(other)
  }
}
