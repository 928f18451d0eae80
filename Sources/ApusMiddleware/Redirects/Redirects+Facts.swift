public import ApusCore

extension Redirects: SelfDescribing {
  /// Which redirects are followed by calls that say nothing else.
  public var facts: [Fact] {
    guard let limits = standard.limits else { return [.setting("none", "")] }
    let descent = limits.allowsInsecure ? "also" : "never"
    var facts: [Fact] = [.setting("up to", "\(limits.hops)"), .setting(descent, "from https to http")]
    if let hosts = limits.hosts {
      let names = hosts.sorted().joined(separator: " ")
      facts.append(names.isEmpty ? .setting("to no other host", "") : .setting("to other hosts only", names))
    }
    return facts
  }
}
