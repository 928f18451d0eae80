/// An array that skips items that cannot be decoded and reports them, instead of failing as a whole.
///
/// `Request<LossyArray<Movie>>` returns the valid movies in ``elements`` and the errors of the invalid movies in
/// ``skipped``.
public struct LossyArray<Element: Decodable & Sendable>: Decodable, Sendable {
  /// The decoded items, in order.
  public let elements: [Element]
  /// The items that could not be decoded, in order.
  public let skipped: [UndecodableElement]

  /// Decodes an array.
  ///
  /// - Throws: `DecodingError` if the value is not an array.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    var elements: [Element] = []
    var drops: [UndecodableElement] = []
    while !container.isAtEnd {
      let index = container.currentIndex
      switch try container.decode(Attempt.self).result {
      case .success(let element): elements.append(element)
      case .failure(let error): drops.append(UndecodableElement(index: index, error: error))
      }
    }
    self.elements = elements
    self.skipped = drops
  }

  /// A wrapper whose decoding always succeeds, so that the container advances to the next item.
  private struct Attempt: Decodable {
    let result: Result<Element, any Error>

    init(from decoder: any Decoder) throws {
      // Calls the decoder, because the type's own initializer would ignore the formats of the coding.
      result = Result { try decoder.singleValueContainer().decode(Element.self) }
    }
  }
}

/// An element of a ``LossyArray`` or of a stream that could not be decoded.
public struct UndecodableElement: Sendable, CustomStringConvertible {
  /// The element's index in its array or response, from 0.
  public let index: Int
  /// The error of the decoder. Do not log it: it may contain values of the element.
  public let error: any Error
  /// The index and the reason, without any value of the element.
  public var description: String { "element \(index): \(DecodingFailure(error).description)" }
}
