import HTTPTypes

/// A list of pages: the request for each position, and the position that each response names. All kinds of paging are
/// reduced to this type.
struct PageSource<Page: Sendable>: Sendable {
  /// Returns the request for a position; `nil` is the first page. For a position of another kind the call of the
  /// request fails. Secrets of the endpoint are sent only to the origin of the environment, to the origin of the first
  /// page, and to the origins that the endpoint trusts.
  let request: @Sendable (_ position: PagePosition?, _ origins: PageOrigins) -> Request<Page>
  /// Returns the positions that a response names. `position` is the position for which the response was requested.
  let turn: @Sendable (_ response: Response<Page>, _ position: PagePosition?) -> Turn
  /// Whether two equal pages in a row mean that the server ignores the position.
  let comparesPages: Bool

  /// The positions that a response names.
  struct Turn: Sendable {
    /// The position of the response itself, if the response contains it.
    var own: PagePosition?
    /// The position of the next page. `nil` after the last page.
    let next: PagePosition?
  }
}

/// The origins of the environment and of the last response in a loop over pages.
struct PageOrigins: Sendable {
  /// The origin of the environment.
  let home: Origin?
  /// The origin of the last response, which named the next page. `nil` before the first page of a loop: a stored
  /// position was named by an earlier loop.
  let last: Origin?

  /// Returns the origin of the response that named a position.
  ///
  /// - Parameter first: the request for the first page.
  func source(after first: RequestDescription?) -> Origin? { last ?? first?.path.origin ?? home }
}

extension Request {
  /// Returns a request whose calls fail before anything is sent.
  static func failing(_ fault: CallFault) -> Request {
    var request = Request(method: .get, path: "/", mapping: .unavailable)
    request.details.failure = fault
    return request
  }
}

extension CallFault {
  /// The fault of a position that another sequence of pages has produced.
  static let misplaced = CallFault(.invalidRequest, "the position does not belong to this sequence of pages")
}
