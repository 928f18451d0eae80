#if NIO
  /// How much coded content may grow before it is refused.
  ///
  /// A few bytes can stand for very many: whoever decodes without a bound lets the server choose how much memory or time
  /// is spent. Codings can be nested, so the number of those is bounded too.
  struct CodingLimits: Sendable, Hashable {
    /// The most bytes that any of the codings may yield. 1 GiB.
    var length: Int64 = 1 << 30
    /// How many times longer than what arrived the content may become, once it exceeds ``ratioAllowance``. 200.
    ///
    /// One layer of deflate reaches 1,032; text of the usual kind 5 to 20, repetitive logs 100.
    var ratio: Int64 = 200
    /// What the content may grow to at any ratio: ordinary answers are short, and some are very repetitive. 8 MiB.
    var ratioAllowance: Int64 = 8 << 20
    /// The most codings, over all of an answer's `Content-Encoding` fields. 5.
    var chainLength = 5
  }
#endif
