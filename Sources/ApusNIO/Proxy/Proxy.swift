#if NIO
  extension NIOTransport {
    /// A server that passes messages on (RFC 9110 §3.7): asked in the clear, with CONNECT for https (§9.3.6).
    ///
    /// A proxy that makes no tunnel fails the call with the code `connectionFailed`, and nothing was sent; the error's
    /// detail has the proxy's status. To a message in the clear its answer is the answer, 407 as well.
    public struct Proxy: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
      /// Its name or address, IPv6 in brackets.
      public var host: String
      /// Its port.
      public var port: Int
      /// Who asks: a name and a password, shown to the proxy alone (RFC 7617). Default: nobody.
      public var credentials: Credentials?
      /// Hosts that are reached without it, as in the variable `no_proxy`: names, which stand for those below them as
      /// well, addresses, address ranges such as `10.0.0.0/8`, each perhaps with a port; `*` for all. Default: none.
      public var exceptions: [String] = []

      /// A name and a password.
      public struct Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        /// The name, without a colon (RFC 7617 §2) and control characters; ``Options/check()`` refuses others.
        public var user: String
        /// The password.
        public var password: String

        /// Makes credentials.
        public init(user: String, password: String) {
          self.user = user
          self.password = password
        }

        /// Says nothing about what is inside.
        public var description: String { "Credentials" }

        /// Shows ``description`` alone.
        public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
      }

      /// Makes a proxy.
      public init(host: String, port: Int, credentials: Credentials? = nil) {
        self.host = host
        self.port = port
        self.credentials = credentials
      }

      /// Host and port.
      public var description: String { "\(host):\(port)" }

      /// Shows ``description`` alone.
      public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
    }

    /// Which proxy messages go through.
    public enum ProxyUse: Sendable, Hashable {
      /// None, whatever the environment says.
      case none
      /// This one.
      case proxy(Proxy)
      /// What the environment's variables said when the transport was made: `http_proxy`, `https_proxy`, `all_proxy`
      /// and `no_proxy`, in lower or upper case but for the first, which servers set to what a client sent.
      ///
      /// A message whose variable is no URL of a proxy that can be used is refused, not sent past the proxy.
      case environment
    }
  }
#endif
