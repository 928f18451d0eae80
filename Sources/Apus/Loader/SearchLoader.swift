/// A ``Loader`` of the results of a query, for a search while the user types.
///
/// A newer query supersedes the running query, whose call is cancelled and whose result is never shown. The last
/// results are preserved while a newer query runs, and after a failed query.
///
/// <!-- sample: search-loader main -->
/// ```swift
/// let search = SearchLoader(debounce: .milliseconds(300)) { (text: String) in
///   try await api.send(Request<[Movie]>.get("/search", query: ["q": text]))
/// }
/// search.load("metropolis")       // in `.onChange(of: text) { }`
/// await search.load()             // in `.refreshable { }`: the same query again
/// print(search.value?.count ?? 0)
/// ```
@MainActor
public final class SearchLoader<Query: Sendable, Value: Sendable>: Loader<Value> {
  private let search: @MainActor (Query) async throws -> Value

  /// Creates a loader with a function that returns the results of a query.
  ///
  /// - Parameters:
  ///   - debounce: a delay before each load, during which a newer query supersedes it. Default: zero.
  ///   - clock: the clock of the delay. Default: the system clock.
  ///   - search: loads the results. It is called on the main actor. Its task is cancelled when the load is cancelled or
  ///     superseded. An error other than ``CallError`` is converted, see ``CallError/init(converting:)``.
  public init(
    debounce: Duration = .zero, clock: any MonotonicClock = SystemClock(),
    _ search: @escaping @MainActor (Query) async throws -> Value
  ) {
    self.search = search
    super.init(.idle, debounce: debounce, clock: clock, work: nil)
  }

  /// Starts a load of a query, which supersedes the running query, and returns immediately.
  ///
  /// - Returns: the task of the load; cancelling it cancels the load.
  @discardableResult
  public func load(_ query: Query) -> Task<Void, Never> {
    work = { [search] in try await search(query) }
    return reload()
  }

  override func discardQuery() { work = nil }
}
