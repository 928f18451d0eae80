import ApusCore
import HTTPTypes

extension Request where Value == Void {
  /// A GET request whose response content is ignored.
  static func get(_ path: RequestPath, query: Query = [:]) -> Self {
    .method(.get, path, query: query)
  }
}
