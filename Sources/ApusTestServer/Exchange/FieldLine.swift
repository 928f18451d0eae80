#if NIO
  /// One field line of a message: a name and a value, as on the wire (RFC 9110 section 5).
  public struct FieldLine: Sendable, Hashable, CustomStringConvertible {
    /// The name in the case it was sent; names compare without regard to case only in ``FieldLines``.
    public var name: String
    /// The value without the white space around it.
    public var value: String

    /// A line with `name` and `value`, neither of which is checked: a test may want a wrong one.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    /// The line as on the wire, without its end.
    public var description: String { "\(name): \(value)" }
  }
#endif
