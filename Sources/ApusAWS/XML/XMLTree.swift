/// An element of an XML document: its name without prefix, its text and its children. Attributes are not included.
struct XMLTree: Hashable, Sendable {
  /// The name without its namespace prefix.
  let name: String
  /// The character data directly in the element.
  var text = ""
  /// The child elements, in order.
  var children: [XMLTree] = []

  /// Creates an element.
  init(_ name: String, text: String = "", children: [XMLTree] = []) {
    (self.name, self.text, self.children) = (name, text, children)
  }

  /// The first child with a name.
  subscript(name: String) -> XMLTree? { children.first { $0.name == name } }

  /// Returns the text of the first child with a name.
  func text(of name: String) -> String? { self[name]?.text }

  /// Returns the children with a name.
  func all(_ name: String) -> [XMLTree] { children.filter { $0.name == name } }
}
