/// Secrets that are put wherever credentials are kept or given. Each is another, so that one which leaks tells which.
enum Planted: String, Sentinel {
  case access, refresh, newAccess, newRefresh, user, password, key

  /// All of them as an object of JSON, with a sentence that holds none: what a server says that repeats everything.
  static var quoted: String {
    let members = allCases.map { #""\#($0.rawValue)":"\#($0.secret)""# }
    return #"{"title":"No.","# + members.joined(separator: ",") + "}"
  }
}
