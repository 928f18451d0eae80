#if Credentials
  /// The value of `Authorization` as it is put together (RFC 7616 §3.4).
  struct DigestText {
    /// What there is so far.
    private(set) var text = "Digest"
    private var isEmpty = true

    /// Adds a parameter as it is: for `algorithm`, `qop`, `nc`, `userhash` and `username*`, which have no quotes.
    mutating func add(_ name: String, _ value: String) {
      text += "\(isEmpty ? " " : ", ")\(name)=\(value)"
      isEmpty = false
    }

    /// Adds a parameter in quotes: for `username`, `realm`, `nonce`, `uri`, `response`, `cnonce` and `opaque`.
    mutating func add(_ name: String, quoting value: String) {
      add(name, "\"\(Self.escaped(value))\"")
    }

    /// What stands between quotes (RFC 9110 §5.6.4).
    private static func escaped(_ value: String) -> String {
      var scalars = String.UnicodeScalarView()
      // Scalar by scalar: with a mark behind it, a quote is no character of its own, but ends the string all the same.
      for scalar in value.unicodeScalars {
        if scalar == "\"" || scalar == "\\" { scalars.append("\\") }
        scalars.append(scalar)
      }
      return String(scalars)
    }

    /// A text in any language (RFC 8187 §3.2.1).
    static func extended(_ value: String) -> String {
      var text = "UTF-8''"
      for byte in value.utf8 {
        if isPlain(byte) {
          text.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
          text += "%" + hexadecimal(byte).uppercased()
        }
      }
      return text
    }

    /// Letters, digits and what else needs no escape there (`attr-char`).
    private static func isPlain(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
      default: "!#$&+-.^_`|~".utf8.contains(byte)
      }
    }

    /// A number in lower-case hexadecimal digits, with as many zeros in front as its type has room for.
    static func hexadecimal<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: Number.bitWidth / 4 - digits.utf8.count) + digits
    }
  }
#endif
