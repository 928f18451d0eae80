#if NIO
  import ApusCore
  import HTTPTypes
  import NIOCore

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// What has come of the answer on a connection.
  struct Incoming {
    /// Whether the trace tells of the first byte.
    var isTold = false
    /// Whether the pool knows that content is streamed.
    var isStreaming = false
    /// The head of the final response.
    var head: HTTPResponse?
    /// Where content goes that is read while it arrives.
    var content: ContentChannel?
    /// Undoes the content's codings; `nil`: there are none to undo.
    var coding: ContentDecoder?
    /// Coded content that waits to be decoded.
    var coded = ByteBuffer()
    /// Content that is collected.
    var collected = Data()
    /// The most bytes to collect.
    var limit = Int.max
  }
#endif
