#if NIO
  /// The field lines of a head or of trailers, in order, nothing merged and nothing normalised.
  ///
  /// HTTPTypes' `HTTPFields` cleans what it is given; a test wants to see, and to send, exactly what went over the wire.
  public struct FieldLines: Sendable, Hashable, RandomAccessCollection {
    private var lines: [FieldLine]

    /// The lines given, in their order.
    public init(_ lines: [FieldLine] = []) {
      self.lines = lines
    }

    /// The position of the first line.
    public var startIndex: Int { lines.startIndex }

    /// The position after the last line.
    public var endIndex: Int { lines.endIndex }

    /// The line at a position.
    public subscript(position: Int) -> FieldLine { lines[position] }

    /// The value of a field, its lines joined by ", " as RFC 9110 section 5.3 allows; `nil` when there is none.
    ///
    /// Setting it replaces all lines of that name by one, setting `nil` removes them. Case does not matter.
    public subscript(name: String) -> String? {
      get {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
      }
      set {
        let position = lines.firstIndex { Self.isSame($0.name, name) }
        lines.removeAll { Self.isSame($0.name, name) }
        if let newValue { lines.insert(FieldLine(name: name, value: newValue), at: position ?? lines.endIndex) }
      }
    }

    /// The values of all lines of a name, in order; case does not matter.
    public func values(of name: String) -> [String] {
      lines.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    /// Adds a line after all others, even when there is one of that name.
    public mutating func append(_ line: FieldLine) {
      lines.append(line)
    }

    /// Whether a comma-separated field has `token` among its members; case does not matter.
    func contains(_ token: String, in name: String) -> Bool {
      values(of: name).contains { value in
        value.split(separator: ",").contains { Self.isSame(String($0.trimmingPrefix(while: \.isWhitespace)), token) }
      }
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
      one == other || one.lowercased() == other.lowercased()
    }
  }

  extension FieldLines: ExpressibleByDictionaryLiteral {
    /// Lines in the order they are written; a name may come twice.
    public init(dictionaryLiteral elements: (String, String)...) {
      self.init(elements.map(FieldLine.init(name:value:)))
    }
  }
#endif
