public import ApusCore

/// An endpoint that ``Transfers`` can store. A new process continues the transfer from the stored endpoint.
///
/// The store contains the values of the type, so the type describes a transfer by the app's own terms. The URL, the
/// fields (headers) and the credentials are created anew at each start of the transfer.
///
/// <!-- sample: transfer-endpoint -->
/// ```swift
/// struct FilmFile: Endpoint, TransferEndpoint {
///   let id: Int
///   var request: Request<Content> { .get("/films/\(id)/content") }
/// }
/// ```
///
/// A type that is not an `Endpoint` may make calls to get its request, for example for a presigned URL:
///
/// <!-- sample: transfer-endpoint-presigned -->
/// ```swift
/// struct PresignedFilm: TransferEndpoint {
///   let id: Int
///   func request(by client: Client) async throws -> Request<Content> {
///     let link: String = try await client.send(.get("/films/\(id)/link"))
///     return .get(.url(link))
///   }
/// }
/// ```
///
/// The store is not encrypted, so the values must not be secrets. A transfer is identified by its encoded values, so
/// equal values must have the same encoding in every process; a `Set` does not.
public protocol TransferEndpoint<Value>: Codable, Sendable {
  /// The value of the endpoint's response.
  associatedtype Value: Sendable

  /// The name of the type in the store. Default: the name of the type without its module. A transfer that was stored
  /// under another name is not continued.
  static var transferName: String { get }

  /// The options of a download. ``DownloadOptions/resource`` and ``DownloadOptions/account`` are ignored: the queue
  /// sets both. Default: the default options.
  var downloadOptions: DownloadOptions { get }

  /// Returns the request of the transfer. Called at each start of the transfer, when it has left the queue.
  ///
  /// - Parameter client: the client of the ``Transfers``.
  /// - Throws: any error. The transfer then fails with it.
  func request(by client: Client) async throws -> Request<Value>
}

extension TransferEndpoint {
  /// The name of the type without its module.
  public static var transferName: String { String(describing: Self.self) }
  /// The default options.
  public var downloadOptions: DownloadOptions { DownloadOptions() }
}

extension TransferEndpoint where Self: Endpoint {
  /// Returns the endpoint's request.
  public func request(by client: Client) async throws -> Request<Value> { modified { _ in } }
}
