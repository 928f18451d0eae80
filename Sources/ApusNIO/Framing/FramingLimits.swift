/// The limits on the framing of one response.
///
/// These limits bound the memory of a decoder, and the work that a server can cause without sending any content. The
/// length of content is limited by its reader.
struct FramingLimits: Sendable, Hashable {
  /// The maximum number of bytes of status lines and field lines in one response: interim responses, head and
  /// trailers together. Default: 256 KiB.
  var fieldBytes = 256 << 10
  /// The maximum number of field lines in one response: interim responses, head and trailers together. Default:
  /// 1,000. `HTTPFields` traps at 65,535.
  var fieldCount = 1000
  /// The maximum number of interim responses before the final response (RFC 9110 §15.2). Default: 64.
  var interimCount = 64
  /// The maximum number of bytes of a chunk's first line, extensions included (RFC 9112 §7.1.1). Default: 4 KiB.
  var chunkLineBytes = 4 << 10
  /// The number of bytes by which the first lines of chunks may exceed twice the announced content. Default: 16 KiB.
  ///
  /// A limit on the sum of the lines alone would refuse long streams that sign every chunk.
  var chunkOverhead = 16 << 10
}

/// The remaining budget while one response is read.
struct FramingBudget: Sendable {
  private var bytes: Int
  private var fields: Int
  private var interimResponses: Int

  init(_ limits: FramingLimits) {
    bytes = limits.fieldBytes
    fields = limits.fieldCount
    interimResponses = limits.interimCount
  }

  /// Throws if an incomplete line is already longer than the remaining budget.
  @inline(__always)
  func check(pending count: Int) throws(FramingError) {
    if count > bytes { throw Self.tooLarge }
  }

  /// Subtracts the bytes of a line from the budget.
  @inline(__always)
  mutating func takeLine(_ count: Int) throws(FramingError) {
    bytes -= count
    if bytes < 0 { throw Self.tooLarge }
  }

  /// Subtracts a field from the budget.
  @inline(__always)
  mutating func takeField() throws(FramingError) {
    fields -= 1
    if fields < 0 { throw FramingError(.tooManyFields, "the response has too many fields") }
  }

  /// Subtracts an interim response from the budget.
  mutating func takeInterimResponse() throws(FramingError) {
    interimResponses -= 1
    if interimResponses < 0 {
      throw FramingError(.tooManyInterimResponses, "the response has too many interim responses")
    }
  }

  private static let tooLarge = FramingError(.fieldsTooLarge, "the response's fields are too large")
}
