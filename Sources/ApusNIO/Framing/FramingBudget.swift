#if NIO
  /// What is left of the limits while one answer is read.
  struct FramingBudget: Sendable {
    private var bytes: Int
    private var fields: Int
    private var interimResponses: Int

    init(_ limits: FramingLimits) {
      bytes = limits.fieldBytes
      fields = limits.fieldCount
      interimResponses = limits.interimCount
    }

    /// Refuses an unfinished line that is longer than anything that may still come.
    @inline(__always)
    func check(pending count: Int) throws(FramingError) {
      if count > bytes { throw Self.tooLarge }
    }

    @inline(__always)
    mutating func takeLine(_ count: Int) throws(FramingError) {
      bytes -= count
      if bytes < 0 { throw Self.tooLarge }
    }

    @inline(__always)
    mutating func takeField() throws(FramingError) {
      fields -= 1
      if fields < 0 { throw FramingError(.tooManyFields, "the answer has too many fields") }
    }

    mutating func takeInterimResponse() throws(FramingError) {
      interimResponses -= 1
      if interimResponses < 0 { throw FramingError(.tooManyInterimResponses, "interim responses do not end") }
    }

    private static let tooLarge = FramingError(.fieldsTooLarge, "the answer's fields are too large")
  }
#endif
