import Testing

@testable import ApusMiddleware

@Suite("Limits of a cookie jar")
struct CookieLimitsTests {
  private func bench(perDomain: Int = 3, total: Int = 100) -> CookieBench {
    CookieBench(limits: CookieState.Limits(perDomain: perDomain, total: total))
  }

  @Test("By default a jar keeps 50 cookies of a domain and 3,000 cookies in total")
  func defaults() throws {
    var bench = CookieBench()
    for host in 0..<70 {
      for number in 0..<60 { try bench.set("c\(number)=1", from: "https://h\(host).example.com/") }
    }
    #expect(bench.state.count == 3000 && bench.state.all.count == 3000)
    #expect(try bench.sent(to: "https://h9.example.com/").isEmpty)
    #expect(try bench.sent(to: "https://h10.example.com/").hasPrefix("c10=1; c11=1"))
    #expect(try bench.sent(to: "https://h69.example.com/").hasSuffix("c59=1"))
  }

  @Test("Above the limit of a domain, the cookie that was not used for the longest time is removed")
  func leastRecentlyUsed() throws {
    var bench = bench()
    for name in ["a", "b", "c"] { try bench.set("\(name)=1; Path=/\(name)") }
    #expect(try bench.sent(to: "https://api.example.com/a") == "a=1")
    try bench.set("d=1")
    #expect(bench.stored == ["a=1", "c=1", "d=1"])
    // Storing a cookie again is a use, and needs no further place.
    try bench.set("c=2; Path=/c")
    try bench.set("e=1")
    #expect(bench.stored == ["c=2", "d=1", "e=1"])
  }

  @Test("Of cookies that were sent together, the one created first is removed first")
  func ties() throws {
    var bench = bench()
    for name in ["a", "b", "c"] { try bench.set("\(name)=1; Path=/") }
    #expect(try bench.sent() == "a=1; b=1; c=1")
    try bench.set("d=1; Path=/")
    #expect(bench.stored == ["b=1", "c=1", "d=1"])
  }

  @Test("Expired cookies are removed first, then cookies that are not Secure, then Secure cookies")
  func order() throws {
    var bench = bench()
    try bench.set("a=1; Secure")
    try bench.set("b=1")
    try bench.set("c=1; Secure; Max-Age=10")
    bench.now += 10
    try bench.set("d=1; Secure")
    #expect(bench.stored == ["a=1", "b=1", "d=1"])
    try bench.set("e=1; Secure")
    #expect(bench.stored == ["a=1", "d=1", "e=1"])
    // A new cookie that is not Secure does not displace Secure cookies.
    try bench.set("f=1")
    #expect(bench.stored == ["a=1", "d=1", "e=1"])
    try bench.set("g=1; Secure")
    #expect(bench.stored == ["d=1", "e=1", "g=1"])
  }

  @Test("Each domain has its own limit, and a Domain attribute counts for its own value")
  func domains() throws {
    var bench = bench(perDomain: 2)
    for number in 0..<5 {
      try bench.set("a\(number)=1")
      try bench.set("b\(number)=1; Domain=example.com")
      try bench.set("c\(number)=1", from: "https://files.example.com/")
    }
    #expect(bench.stored == ["a3=1", "b3=1", "c3=1", "a4=1", "b4=1", "c4=1"])
  }

  @Test("Above the total limit, expired cookies of all domains are removed first, then the least recently used cookie")
  func total() throws {
    var bench = bench(total: 4)
    try bench.set("a=1; Secure", from: "https://a.example.com/")
    try bench.set("b=1", from: "https://b.example.com/")
    try bench.set("c=1; Max-Age=10", from: "https://c.example.com/")
    try bench.set("d=1", from: "https://d.example.com/")
    bench.now += 10
    try bench.set("e=1", from: "https://e.example.com/")
    #expect(bench.stored == ["a=1", "b=1", "d=1", "e=1"])
    // Only a domain with too many cookies prefers Secure cookies.
    try bench.set("f=1", from: "https://f.example.com/")
    #expect(bench.stored == ["b=1", "d=1", "e=1", "f=1"])
    #expect(bench.state.count == 4)
  }

  @Test("A request gets only the cookies of its own host, however many the jar has")
  func many() throws {
    var bench = CookieBench()
    for number in 0..<3000 { try bench.set("c\(number)=1", from: "https://h\(number % 100).example.com/") }
    #expect(bench.state.count == 3000)
    let expected = (0..<30).map { "c\($0 * 100 + 7)=1" }.joined(separator: "; ")
    for _ in 0..<10 { #expect(try bench.sent(to: "https://h7.example.com/") == expected) }
  }
}
