import ApusCore
import HTTPTypes

extension Request where Value == Void {
  /// GET whose content no test looks at.
  static func get(_ path: RequestPath, query: Query = [:]) -> Self {
    .method(.get, path, query: query)
  }
}
