#if NIO
  public import ApusCore
  import HTTPTypes

  extension NIOTransport.Options {
    /// Looks for a value that makes no sense, such as no connection at all.
    ///
    /// A transport made with one traps nowhere: each of its calls throws this error, which becomes `invalidRequest`.
    ///
    /// - Throws: ``TransportError`` of the kind `unsupported`, which names the option.
    public func check() throws(TransportError) {
      for (isSensible, rule) in rules where !isSensible {
        throw TransportError(.unsupported, requestState: .notSent, detail: "the transport's option \(rule)")
      }
    }

    private var rules: [(Bool, String)] {
      pool + times + answers + [
        (eventLoops.isSensible, "eventLoops: at least one"),
        (HTTPField.isValidValue(userAgent), "userAgent: no control characters"),
        (proxy.fault == nil, "proxy: \(proxy.fault ?? "")"),
      ]
    }

    private var pool: [(Bool, String)] {
      [
        (connectionsPerOrigin >= 1, "connectionsPerOrigin: at least 1"),
        (connections >= 1, "connections: at least 1"),
        (waiting ?? 0 >= 0, "waiting: not negative"),
      ]
    }

    private var times: [(Bool, String)] {
      [
        (idleTimeout >= .zero, "idleTimeout: not negative"),
        (maximumAge ?? .zero >= .zero, "maximumAge: not negative"),
        (connectTimeout.isPositive, "connectTimeout: positive"),
        (firstByteTimeout.isPositive, "firstByteTimeout: positive"),
        (stallTimeout.isPositive, "stallTimeout: positive"),
      ]
    }

    private var answers: [(Bool, String)] {
      [
        (limits.fieldBytes >= 1, "limits.fieldBytes: at least 1"),
        // The type of fields traps at 65,535.
        ((1...60_000).contains(limits.fields), "limits.fields: from 1 to 60,000"),
        (limits.interimResponses >= 0, "limits.interimResponses: not negative"),
        (limits.codings >= 0, "limits.codings: not negative"),
        (limits.decodedBytes >= 0, "limits.decodedBytes: not negative"),
        (limits.decodedRatio >= 1, "limits.decodedRatio: at least 1"),
        (limits.ratioAllowance >= 0, "limits.ratioAllowance: not negative"),
      ]
    }
  }

  extension Duration? {
    /// No limit is one that can be kept.
    fileprivate var isPositive: Bool { map { $0 > .zero } ?? true }
  }

  extension NIOTransport.EventLoops {
    fileprivate var isSensible: Bool {
      if case .own(let count) = self { return count >= 1 }
      return true
    }
  }

  extension NIOTransport.ProxyUse {
    fileprivate var fault: String? {
      guard case .proxy(let proxy) = self else { return nil }
      return proxy.fault
    }
  }
#endif
