/// The position of a page in a list, from which a sequence of pages can be resumed, also by another process.
///
/// A position is `Codable`, so that an app can store it after each page:
///
/// <!-- sample: position -->
/// ```swift
/// let file = URL(filePath: "/tmp/position.json")
/// let stored = try? JSONDecoder().decode(PagePosition.self, from: Data(contentsOf: file))
/// let pages = api.pages(of: { .movies(page: $0) }, next: .number { $0.number < $0.total }).resuming(at: stored)
/// for try await step in pages.withPositions {
///   show(step.page.movies)
///   try JSONEncoder().encode(step.next).write(to: file)
/// }
/// ```
///
/// A position contains the URL, the cursor, the page number or the offset, but neither credentials nor fields
/// (headers). A URL or a cursor may be a secret of the server, so the description contains only the kind of the
/// position.
public struct PagePosition: Sendable, Hashable {
  enum Place: Sendable, Hashable {
    /// A complete URL.
    case url(String)
    /// A cursor, as JSON text.
    case cursor(String)
    case number(Int)
    case offset(Int)
    /// The server named a next page that cannot be requested, for this reason. The call for that page reports the
    /// reason.
    case unusable(String)
  }

  let place: Place

  init(_ place: Place) {
    self.place = place
  }
}

extension PagePosition: SelfRedacting {
  /// The kind of the position, with a page number or an offset, but without a URL or cursor. Safe for logs.
  public var description: String {
    switch place {
    case .url: "a URL"
    case .cursor: "a cursor"
    case .number(let number): "page \(number)"
    case .offset(let offset): "offset \(offset)"
    case .unusable: "an unusable position"
    }
  }
}

extension PagePosition: Codable {
  private enum CodingKeys: String, CodingKey {
    case url, cursor, page, offset, unusable
  }

  /// Decodes a stored position.
  ///
  /// - Throws: `DecodingError` if the value is not a position.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard let key = container.allKeys.first, container.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "not the position of a page"))
    }
    place =
      switch key {
      case .url: .url(try container.decode(String.self, forKey: key))
      case .cursor: .cursor(try container.decode(String.self, forKey: key))
      case .page: .number(try container.decode(Int.self, forKey: key))
      case .offset: .offset(try container.decode(Int.self, forKey: key))
      case .unusable: .unusable(try container.decode(String.self, forKey: key))
      }
  }

  /// Encodes the position.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch place {
    case .url(let url): try container.encode(url, forKey: .url)
    case .cursor(let cursor): try container.encode(cursor, forKey: .cursor)
    case .number(let number): try container.encode(number, forKey: .page)
    case .offset(let offset): try container.encode(offset, forKey: .offset)
    case .unusable(let reason): try container.encode(reason, forKey: .unusable)
    }
  }
}
