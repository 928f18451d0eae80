/// Secrets in every place of credentials. Each is different, so that a leak shows its source.
enum Planted: String, Sentinel {
  case access, refresh, newAccess, newRefresh, user, password, key

  /// All of them as an object of JSON, with a sentence that holds none: what a server says that repeats everything.
  static var quoted: String {
    let members = allCases.map { #""\#($0.rawValue)":"\#($0.secret)""# }
    return #"{"title":"No.","# + members.joined(separator: ",") + "}"
  }
}
