/// An array that keeps what could be decoded and reports what could not: only for those who ask for it.
///
/// `Request<LossyArray<Movie>>` gives the good movies and, in ``drops``, why each other one was left out.
public struct LossyArray<Element: Decodable & Sendable>: Decodable, Sendable {
  /// One item that could not be decoded.
  public struct Drop: Sendable, CustomStringConvertible {
    /// Its place in the array, from 0.
    public let index: Int
    /// Why.
    public let error: any Error
    /// The place and the reason; holds no value of the item.
    public var description: String { "item \(index): \(DecodingFailure(error).description)" }
  }

  /// What could be decoded, in order.
  public let elements: [Element]
  /// What could not, in order.
  public let drops: [Drop]

  /// Decodes an array; fails only when it is none.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    var elements: [Element] = []
    var drops: [Drop] = []
    while !container.isAtEnd {
      let index = container.currentIndex
      switch try container.decode(Attempt.self).result {
      case .success(let element): elements.append(element)
      case .failure(let error): drops.append(Drop(index: index, error: error))
      }
    }
    self.elements = elements
    self.drops = drops
  }

  /// Decodes always, so that the container moves on to the next item.
  private struct Attempt: Decodable {
    let result: Result<Element, any Error>

    init(from decoder: any Decoder) throws {
      result = Result { try Element(from: decoder) }
    }
  }
}
