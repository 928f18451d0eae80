public import Apus

extension LiveMoviesService {
  /// The films of TheMovieDB itself, for who has a key there.
  public static func theMovieDB(key: Secret) -> LiveMoviesService {
    let key = MemoryCredentials(.token(key))
    let client = Client(baseURL: "https://api.themoviedb.org/3") {
      $0.authentication = .apiKey(key, queryParameter: "api_key")
    }
    return LiveMoviesService(client: client, images: Client(baseURL: "https://image.tmdb.org/t/p"))
  }
}
