/// The values that encoders have written, before they become one text.
///
/// Values are nodes of a tree, so containers can be filled in any order, reopened, and interleaved. The text of all
/// scalars and names is stored in one buffer. Memory is managed manually for the reason given at ``JSONTape``.
package final class JSONOutput {
  /// The node of the top-level value.
  static let root = 0

  let coding: JSONCoding
  let types = TypeClasses.shared
  private let convertsKeys: Bool
  // Safe because the property is used by one thread only, and no access calls code that accesses the property again.
  @exclusivity(unchecked) var text: JSONText
  @exclusivity(unchecked) private var nodes: UnsafeMutablePointer<JSONNode>
  @exclusivity(unchecked) private var capacity = 32
  @exclusivity(unchecked) private var count = 0
  var containerTypes: [ObjectIdentifier: any NodeEncodable.Type] = [:]
  private var stack: StackBudget

  /// - Parameters:
  ///   - coding: the coding.
  ///   - depth: the number of containers around the top-level value.
  ///   - stack: the stack budget of the surrounding encoding.
  init(_ coding: JSONCoding, depth: Int, stack: StackBudget) {
    (self.coding, self.stack) = (coding, stack)
    convertsKeys = coding.keys == .snakeCase
    text = JSONText(capacity: 512)
    nodes = .allocate(capacity: capacity)
    append(JSONNode(parent: .max, depth: UInt16(truncatingIfNeeded: depth)))
  }

  deinit { nodes.deallocate() }

  // MARK: The tree

  subscript(node: Int) -> JSONNode {
    @inline(__always) get {
      precondition(UInt(bitPattern: node) < UInt(bitPattern: count))
      return nodes[node]
    }
  }

  /// Adds an element to an array.
  @inline(__always) func addElement(to array: Int) -> Int {
    add(child(of: array), to: array)
  }

  /// Adds a member to an object.
  func addMember(_ name: String, to object: Int) -> Int { addMember(unconverted: written(name), to: object) }

  /// Returns the name in the text for a coding key.
  @inline(__always) func written(_ key: String) -> String { convertsKeys ? key.snakeCased : key }

  /// Adds a member whose name no key strategy converts.
  func addMember(unconverted name: String, to object: Int) -> Int {
    var node = child(of: object)
    node.start = UInt32(truncatingIfNeeded: text.count)
    text.append(quoted: name)
    node.nameEnd = UInt32(truncatingIfNeeded: text.count)
    let nameStart = Int(node.start) + 1
    if text.count - nameStart - 1 == name.utf8.count {
      node.prefix = text.prefix(from: nameStart, to: text.count - 1)
    } else {
      // The prefix for sorting is taken from the unescaped name.
      node.prefix = name.utf8.prefix(8).enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64(56 - 8 * $1.offset) }
    }
    text.append(UInt8(ascii: ":"))
    return add(node, to: object)
  }

  @inline(__always) private func child(of parent: Int) -> JSONNode {
    JSONNode(parent: UInt32(truncatingIfNeeded: parent), depth: nodes[parent].depth &+ 1)
  }

  @inline(__always) private func add(_ node: JSONNode, to parent: Int) -> Int {
    let index = count
    append(node)
    let last = Int(nodes[parent].end)
    if nodes[parent].length == 0 {
      nodes[parent].first = UInt32(truncatingIfNeeded: index)
    } else {
      nodes[last].next = UInt32(truncatingIfNeeded: index)
    }
    nodes[parent].end = UInt32(truncatingIfNeeded: index)
    nodes[parent].length += 1
    return index
  }

  @inline(__always) private func append(_ node: JSONNode) {
    if count == capacity { grow() }
    (nodes + count).initialize(to: node)
    count += 1
  }

  @inline(never) private func grow() {
    let larger = UnsafeMutablePointer<JSONNode>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: nodes, count: count)
    nodes.deallocate()
    nodes = larger
    capacity *= 2
  }

  /// Turns a node into a container, or reopens the container. A value of a different kind is replaced.
  func open(_ node: Int, _ kind: JSONNode.Kind) {
    guard nodes[node].kind != kind else { return }
    nodes[node].kind = kind
    (nodes[node].first, nodes[node].end, nodes[node].length) = (0, 0, 0)
  }

  /// Returns the last added of the members with a name.
  func member(_ name: String, of object: Int) -> Int? {
    var (child, found) = (Int(nodes[object].first), nil as Int?)
    for _ in 0..<nodes[object].length {
      if isName(of: child, name) { found = child }
      child = Int(nodes[child].next)
    }
    return found
  }

  private func isName(of node: Int, _ name: String) -> Bool {
    let written = text.slice(Int(nodes[node].start) + 1, Int(nodes[node].nameEnd) - 1)
    if written.elementsEqual(name.utf8) { return true }
    guard written.contains(where: { $0 == UInt8(ascii: "\\") || $0 >= 0x80 }) else { return false }
    return self.name(of: node) == name
  }

  /// Turns a node into a scalar, whose text begins at an offset.
  @inline(__always) func setScalar(_ node: Int, from start: Int) {
    nodes[node].kind = .scalar
    nodes[node].first = UInt32(truncatingIfNeeded: start)
    nodes[node].end = UInt32(truncatingIfNeeded: text.count)
  }

  /// Returns the name of a member as written.
  private func name(of node: Int) -> String {
    JSONEscape.string(text.slice(Int(nodes[node].start) + 1, Int(nodes[node].nameEnd) - 1))
  }

  /// Returns the coding path of a node. It is derived from the tree, so encoding need not track it.
  func codingPath(of node: Int) -> [any CodingKey] {
    var (path, node): ([any CodingKey], Int) = ([], node)
    while node != Self.root {
      let parent = Int(nodes[node].parent)
      if nodes[parent].kind == .object {
        path.append(JSONKey(convertsKeys ? name(of: node).camelCased : name(of: node)))
      } else {
        var (sibling, index) = (Int(nodes[parent].first), 0)
        while sibling != node { (sibling, index) = (Int(nodes[sibling].next), index + 1) }
        path.append(JSONKey(index: index))
      }
      node = parent
    }
    return path.reversed()
  }

  /// Throws if a value is nested too deeply for its `encode(to:)`, which recurses.
  @inline(__always) func check(_ node: Int, _ value: some Encodable) throws {
    if self[node].depth >= StackBudget.unmeasuredDepth { try checkStack(node, value) }
  }

  private func checkStack(_ node: Int, _ value: some Encodable) throws {
    if stack.isExhausted() { throw error(value, "The value is nested too deeply.", at: node) }
  }

  func error(_ value: Any, _ description: String, at node: Int) -> EncodingError {
    .invalidValue(value, .init(codingPath: codingPath(of: node), debugDescription: description))
  }
}

/// A value in a `JSONOutput`.
struct JSONNode {
  enum Kind: UInt8 {
    /// Nothing was encoded.
    case empty
    case scalar, array, object
  }

  var kind = Kind.empty
  /// The number of containers around the value, modulo 65,536.
  let depth: UInt16
  let parent: UInt32
  /// The offsets of a member's name with its quotation marks.
  var start: UInt32 = 0
  var nameEnd: UInt32 = 0
  /// The first eight bytes of the name, with the first byte in the highest bits.
  var prefix: UInt64 = 0
  /// The start of a scalar's text, or the first child of a container.
  var first: UInt32 = 0
  /// The end of a scalar's text, or the last child of a container.
  var end: UInt32 = 0
  /// The number of children.
  var length: UInt32 = 0
  /// The next child of the same container.
  var next: UInt32 = 0

  init(parent: UInt32, depth: UInt16) { (self.parent, self.depth) = (parent, depth) }
}
