#if NIO
  /// Which bytes a request line may hold (RFC 3986, RFC 9112 §3.2).
  ///
  /// Only what would break the line or change what it names is refused; whether a path is well-formed is for those to say
  /// who made it.
  enum TargetRules {
    /// Visible ASCII but `#`, which would begin a fragment.
    @inline(__always)
    static func isTarget(_ byte: UInt8) -> Bool {
      byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#")
    }

    /// Visible ASCII but what would end the authority, or stand for user information in it.
    @inline(__always)
    static func isAuthority(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "\\"),
        UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"):
        false
      default: byte > 0x20 && byte < 0x7F
      }
    }

    /// Letters, digits, `+`, `-` and `.`.
    @inline(__always)
    static func isScheme(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
#endif
