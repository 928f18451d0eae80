/// The secrets of all kinds of credentials. Each is different, so that a leak reveals its source.
enum Planted: String, Sentinel {
  case access, refresh, newAccess, newRefresh, user, password, key

  /// A JSON object with all secrets and a harmless title, like the response of a server that repeats its input.
  static var quoted: String {
    let members = allCases.map { #""\#($0.rawValue)":"\#($0.secret)""# }
    return #"{"title":"No.","# + members.joined(separator: ",") + "}"
  }
}
