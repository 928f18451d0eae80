/// What makes a new friend.
struct FriendInput: Decodable, Sendable {
  var name: String?
  var email: String?

  func validated() throws(Problem) -> (name: String, email: String?) {
    var check = Validation()
    let name = check.name("name", name)
    let email = email.map { check.email("email", $0) }
    try check.finish()
    return (name, email)
  }
}

/// Where a friend is put; `null` takes the friend out of every category.
struct CategoryInput: Decodable, Sendable {
  let category: String?

  private enum CodingKeys: CodingKey {
    case category
  }

  /// A missing member is an error and not the same as `null`: it would undo a choice by mistake.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    category = try container.decodeNil(forKey: .category) ? nil : container.decode(String.self, forKey: .category)
  }

  func validated() throws(Problem) -> String? {
    guard let category else { return nil }
    var check = Validation()
    let name = check.category("category", category)
    try check.finish()
    return name
  }
}
