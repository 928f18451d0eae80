@_exported import TestSupport

/// A text of something, and what it is.
struct ShownText: Sendable {
  let name: String
  let text: String

  init(_ name: String, _ text: String) {
    self.name = name
    self.text = text
  }
}

/// The parameters of an `Authorization: Digest`, by name; none where it is another, or there is none.
func digestParameters(_ authorization: String?) -> [String: String] {
  guard let authorization, authorization.hasPrefix("Digest ") else { return [:] }
  var parameters: [String: String] = [:]
  for item in authorization.dropFirst("Digest ".count).split(separator: ",") {
    let pair = item.split(separator: "=", maxSplits: 1)
    guard pair.count == 2 else { continue }
    parameters[String(pair[0].drop { $0 == " " })] = String(pair[1]).replacing("\"", with: "")
  }
  return parameters
}
