import Foundation

// The parsers are internal to ApusCore, so this program compiles their files itself. The following types, which they
// name, do nothing while they parse.

struct ElementTooLong: Error, Hashable {
  let element: String
  let limit: Int
}

struct StreamPosition: Hashable {
  var lastEventID = ""
  var reconnectionTime: Duration?
}

struct ServerSentEvent: Sendable, Hashable {
  var name = "message"
  var data: Data
  var id = ""
}

extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}
