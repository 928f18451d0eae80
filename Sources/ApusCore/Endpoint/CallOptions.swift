/// The options of a call: identity, tags, limits, coding and middleware settings.
public struct CallOptions: Sendable {
  /// The id of the call. Default: `nil`; the client then assigns a serial number.
  public var id: CallID?
  /// The policy for the case that a running call has the same id. Default: ``DuplicatePolicy/allow``.
  public var duplicatePolicy: DuplicatePolicy = .allow
  /// Whether the call may be coalesced with an equal call, see ``Endpoint/coalesced(_:)``. Default: `nil`, which
  /// means the client's setting.
  public var coalesces: Bool?
  /// The tags by which calls are found, cancelled, paused and limited.
  public var tags: [Tag] = []
  /// The timeout of the whole call. Default: `nil`, which means the client's default. A hundred years or more means no
  /// limit.
  public var timeout: Duration?
  /// The maximum number of content (body) bytes read into memory. Default: `nil`, which means the client's limit.
  public var contentLimit: Int?
  /// The coders and styles of this call. Properties that are `nil` use the client's values. Default: `nil`.
  public var coding: CodingOptions? {
    get { boxedCoding?.options }
    set { boxedCoding = newValue.map { CodingBox($0) } }
  }
  /// The receiver of the progress of sending the content. Default: `nil`.
  public var uploadProgress: ProgressReporter?
  /// The receiver of the progress of receiving the response's content. Default: `nil`.
  public var downloadProgress: ProgressReporter?
  /// The settings for middlewares, by key.
  public var values = ContextValues()

  private var boxedCoding: CodingBox?

  /// Boxed, because inline coding options would be the largest part of a waiting call's options.
  private final class CodingBox: Sendable {
    let options: CodingOptions

    init(_ options: CodingOptions) {
      self.options = options
    }
  }

  /// Creates options with the client's defaults: no id and no tags.
  public init() {}

  var reportsProgress: Bool { uploadProgress != nil || downloadProgress != nil }
}

/// The policy for a call that starts while a running call has the same id.
public enum DuplicatePolicy: Sendable, Hashable {
  /// Both calls run, and the id refers to both.
  case allow
  /// The new call fails immediately with the code ``CallError/Code/refused``. Nothing is sent.
  case refuse
  /// The new call runs and the running calls fail as superseded: the latest call wins.
  case cancelPrevious
  /// The new call is coalesced with the running call if both send the same message.
  ///
  /// Each call decodes the response itself, keeps its own deadline and can be cancelled separately. The shared
  /// exchange has no deadline, see ``Endpoint/coalesced(_:)``. If the pipeline coalesces no calls, both calls run as
  /// with ``allow``.
  case coalesce
}

/// A label for calls that belong together, for example all image downloads.
public struct Tag: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The tag's name.
  public let name: String

  /// Creates a tag.
  public init(_ name: String) {
    self.name = name
  }

  /// Creates a tag from a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The name.
  public var description: String { name }
}
