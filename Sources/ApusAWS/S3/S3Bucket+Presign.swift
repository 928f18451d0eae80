public import ApusCore
public import HTTPTypes

extension S3Bucket {
  /// Returns a URL with which anyone can read or store an object without credentials, until the URL expires.
  ///
  /// Sends no request. The URL is a secret.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - method: the method of the request for which the URL is valid. Default: GET. PUT stores the object.
  ///   - seconds: the time for which the URL is valid, from 1 to 604,800 (a week). The URL expires earlier if temporary
  ///     credentials expire.
  ///   - version: the version. Default: `nil`, the latest.
  /// - Throws: `CallError` with the code `invalidRequest`, for example without credentials.
  public func presign(
    _ key: String, method: HTTPRequest.Method = .get, seconds: Int, version: String? = nil
  ) async throws(CallError) -> String {
    var route = route(key, Self.version(version))
    route.presigned = seconds
    return try await client.message(for: request(method, route, mapping: .content)).url
  }
}
