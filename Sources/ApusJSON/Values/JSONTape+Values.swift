extension JSONTape {
  /// Returns the value at a position. Works without recursion, so that deep values do not overflow the stack.
  func value(at position: Int) -> JSONValue {
    let header = self[position]
    guard header.isContainer else { return scalar(header) }
    var values: [JSONValue] = []
    // The open containers: their position, and the number of values on the stack before their own values.
    var open: [(container: Int, count: Int)] = []
    var names: [String] = []
    var next = position
    while true {
      while let last = open.last, next == self[last.container].high {
        open.removeLast()
        let value = container(self[last.container], &values, &names, values.count - last.count)
        if open.isEmpty { return value }
        values.append(value)
      }
      if let last = open.last, self[last.container].isObject {
        names.append(string(self[next]))
        next += 1
      }
      let word = self[next]
      if word.isContainer {
        open.append((next, values.count))
        next = Self.start(of: next)
      } else {
        values.append(scalar(word))
        next += 1
      }
    }
  }

  /// Removes the elements or members of a container from their stacks. The stacks must be uniquely referenced, because
  /// otherwise each container copies them.
  private func container(
    _ header: JSONWord, _ values: inout [JSONValue], _ names: inout [String], _ count: Int
  ) -> JSONValue {
    let start = values.count - count
    defer { values.removeLast(count) }
    guard header.isObject else { return .array(Array(values[start...])) }
    var members = [String: JSONValue](minimumCapacity: count)
    let first = names.count - count
    for index in 0..<count { members[names[first + index]] = values[start + index] }
    names.removeLast(count)
    return .object(members)
  }

  private func scalar(_ word: JSONWord) -> JSONValue {
    switch word.kind {
    case .integer, .fraction: .number(JSONNumber(valid: String(decoding: text(word), as: UTF8.self)))
    case .string, .escapedString: .string(string(word))
    default: word.isNull ? .null : .bool(word.literal == .true)
    }
  }
}
