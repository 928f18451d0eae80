@_exported import TestSupport

/// A text with the name of its source.
struct PrintedText: Sendable {
  let name: String
  let text: String

  init(_ name: String, _ text: String) {
    self.name = name
    self.text = text
  }
}

/// Returns the parameters of an `Authorization: Digest` field by name. Empty if the scheme differs or the field is
/// missing.
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
