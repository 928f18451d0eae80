public import Apus
public import MoviesService

/// What a screen with films shows. A `Loader` knows what is on its way, what went wrong and what to show meanwhile, so
/// nothing here does.
public final class MoviesModel {
  /// What somebody types.
  public let field: SearchField
  /// The films with that text in their titles; as long as there is none, those that most people like.
  public let films: Loader<[Movie]>

  /// Makes a model that has loaded nothing yet.
  public init(service: any MoviesService) {
    let field = SearchField()
    self.field = field
    films = Loader { () async throws(CallError) -> [Movie] in
      if field.text.isEmpty { return try await service.mostPopular() }
      return try await service.search(field.text).results
    }
  }

  /// What the person reads when the last load failed.
  public var errorText: String? { films.error?.sentence }
}
