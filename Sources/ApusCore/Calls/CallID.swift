/// Names a call: a number that the client counts up, or a name that the app chose.
public struct CallID: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  private enum Storage: Hashable {
    case serial(UInt64)
    case name(String)
  }

  private let storage: Storage

  /// A name of the app's own; what happens while another call has it is the call's ``DuplicatePolicy``.
  public init(_ name: String) {
    storage = .name(name)
  }

  /// A name of the app's own.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  init(serial: UInt64) {
    storage = .serial(serial)
  }

  /// The number, when it is one.
  var serial: UInt64? {
    if case .serial(let number) = storage { return number }
    return nil
  }

  /// Whether the app chose it.
  public var isNamed: Bool {
    if case .name = storage { return true }
    return false
  }

  /// The name, or `#` and the number.
  public var description: String {
    switch storage {
    case .serial(let number): "#\(number)"
    case .name(let name): name
    }
  }
}
