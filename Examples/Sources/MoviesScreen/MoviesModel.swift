public import Apus
public import MoviesService
public import Observation

/// The state of a search field.
@Observable
public final class SearchField {
  /// The text the user typed.
  public var text = ""

  /// Creates an empty field.
  public init() {}
}

/// The state of a screen with movies. A `Loader` stores the loading state, the last error and the last value.
public final class MoviesModel {
  /// The search field.
  public let field: SearchField
  /// The movies with the typed text in their titles; the most popular movies while the field is empty.
  public let films: Loader<[Movie]>

  /// Creates a model that has loaded nothing yet.
  public init(service: any MoviesService) {
    let field = SearchField()
    self.field = field
    films = Loader { () async throws(CallError) -> [Movie] in
      if field.text.isEmpty { return try await service.mostPopular() }
      return try await service.search(field.text).results
    }
  }

  /// The error message of the last load; `nil` when it succeeded.
  public var errorText: String? { films.error?.message }
}
