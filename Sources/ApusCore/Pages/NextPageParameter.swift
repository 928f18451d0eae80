#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The parameter with which an endpoint requests the next page: a cursor, a page number or an offset.
///
/// <!-- sample: next-parameter -->
/// ```swift
/// let orders = api.pages(of: { .orders(after: $0) }, next: .cursor { $0.nextCursor })          // $0: String?
/// let movies = api.pages(of: { .movies(page: $0) }, next: .number { $0.number < $0.total })    // $0: Int, from 1
/// let rows = api.pages(of: { .rows(offset: $0) }, next: .offset { $0.rows.count })             // $0: Int, from 0
///
/// struct Orders: Codable, Sendable { var nextCursor: String? }
/// struct Rows: Codable, Sendable { var rows: [Int] }
/// extension Endpoint where Self == Request<Orders> {
///   static func orders(after cursor: String?) -> Self { .get("/orders", query: ["after": cursor]) }
/// }
/// extension Endpoint where Self == Request<Rows> {
///   static func rows(offset: Int) -> Self { .get("/rows", query: ["offset": offset]) }
/// }
/// ```
public struct NextPageParameter<Parameter: Sendable, Page: Sendable>: Sendable {
  /// Returns the parameter for a position, or `nil` if the position is of another kind.
  let parameter: @Sendable (PagePosition?) -> Parameter?
  /// Returns the position of the page after a page that was requested with a parameter. `nil` after the last page.
  let next: @Sendable (Page, Parameter) -> PagePosition?
  let comparesPages: Bool
}

extension NextPageParameter {
  /// Requests each page with a cursor that the previous page names, for example `nextPageToken`, `next_cursor` or the
  /// id of the last element.
  ///
  /// The endpoint gets `nil` for the first page. Any `Codable` type can be a cursor.
  ///
  /// - Parameter next: returns the cursor of the next page. `nil` or empty after the last page.
  public static func cursor<Cursor: Codable & Sendable>(
    _ next: @escaping @Sendable (_ page: Page) -> Cursor?
  ) -> NextPageParameter where Parameter == Cursor? {
    NextPageParameter(
      parameter: { position in
        guard let position else { return .some(nil) }
        return position.cursor(as: Cursor.self).map { .some($0) }
      },
      next: { page, _ in
        guard let cursor = next(page), (cursor as? any Collection)?.isEmpty != true else { return nil }
        return PagePosition(cursor: cursor)
      },
      comparesPages: false)
  }

  /// Requests each page with its page number.
  ///
  /// - Parameters:
  ///   - first: the number of the first page. Default: 1.
  ///   - hasNext: whether more pages follow a page, for example `{ $0.number < $0.total }`.
  public static func number(
    from first: Int = 1, while hasNext: @escaping @Sendable (_ page: Page) -> Bool
  ) -> NextPageParameter where Parameter == Int {
    NextPageParameter(
      parameter: { position in
        guard let position else { return first }
        guard case .number(let number) = position.place else { return nil }
        return number
      },
      next: { page, number in
        hasNext(page) ? .advanced(number, by: 1) { .number($0) } : nil
      },
      comparesPages: true)
  }

  /// Requests each page with its offset: the number of elements before the page. The list ends with an empty page at
  /// the latest.
  ///
  /// - Parameters:
  ///   - first: the offset of the first page. Default: 0.
  ///   - count: returns the number of elements of a page, for example `{ $0.rows.count }`.
  ///   - hasNext: whether more pages follow a page. Default: always `true`, so that the list ends with an empty page.
  public static func offset(
    from first: Int = 0, by count: @escaping @Sendable (_ page: Page) -> Int,
    while hasNext: @escaping @Sendable (_ page: Page) -> Bool = { _ in true }
  ) -> NextPageParameter where Parameter == Int {
    NextPageParameter(
      parameter: { position in
        guard let position else { return first }
        guard case .offset(let offset) = position.place else { return nil }
        return offset
      },
      next: { page, offset in
        let count = count(page)
        return count > 0 && hasNext(page) ? .advanced(offset, by: count) { .offset($0) } : nil
      },
      comparesPages: true)
  }
}

extension NextPageParameter {
  /// Returns the pages of an endpoint that takes the parameter.
  func source(of request: @escaping @Sendable (Parameter) -> Request<Page>) -> PageSource<Page> {
    PageSource(
      request: { position, origins in
        if case .unusable(let reason) = position?.place { return .failing(CallFault(.invalidRequest, reason)) }
        guard var page = parameter(position).map(request) else { return .failing(.misplaced) }
        guard position != nil else { return page }
        // The cursor may be a URL.
        if page.path.origin != nil || page.path.fault != nil {
          page.path = page.path.named(by: origins.source(after: parameter(nil).map { request($0).details }))
        }
        return page
      },
      turn: { response, position in
        PageSource.Turn(next: parameter(position).flatMap { next(response.value, $0) })
      },
      comparesPages: comparesPages)
  }
}

extension PagePosition {
  fileprivate static func advanced(_ value: Int, by step: Int, _ place: (Int) -> Place) -> PagePosition {
    let (sum, isTooLarge) = value.addingReportingOverflow(step)
    return PagePosition(isTooLarge ? .unusable("the page number or offset is too large") : place(sum))
  }

  fileprivate init(cursor: some Encodable) {
    let encoder = JSONEncoder()
    // Equal cursors must have equal texts, so that a repeated cursor is found.
    encoder.outputFormatting = .sortedKeys
    do {
      self.init(.cursor(String(decoding: try encoder.encode(cursor), as: UTF8.self)))
    } catch {
      self.init(.unusable("the cursor of the next page cannot be encoded"))
    }
  }

  /// Returns the cursor, or `nil` if the position is of another kind or its cursor has another type.
  fileprivate func cursor<Cursor: Decodable>(as type: Cursor.Type) -> Cursor? {
    guard case .cursor(let text) = place else { return nil }
    return try? JSONDecoder().decode(type, from: Data(text.utf8))
  }
}
