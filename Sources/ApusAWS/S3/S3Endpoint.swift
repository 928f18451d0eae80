import ApusCore
import HTTPTypes

/// The rules by which requests state the location of a bucket or an object.
struct S3Endpoint: Hashable, Sendable {
  let addressing: S3Addressing

  /// Writes the authority and the target of a request.
  ///
  /// - Parameters:
  ///   - head: the request to the URL of the server. Its target contains the path of that URL before the route's
  ///     placeholder, and the parameters of the environment.
  ///   - region: the region of the bucket. At AWS servers it is part of the host.
  /// - Throws: `TransportError` with the code `invalidRequest` if the region or the bucket's name cannot be part of the
  ///   host.
  func write(_ route: S3Route, region: String, to head: inout HTTPRequest) throws(TransportError) {
    let target = (head.path ?? "/").utf8
    let mark = target.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
    var text = CanonicalText(capacity: 64 + route.bucket.utf8.count + (route.key?.utf8.count ?? 0))
    text.append(base(of: Substring(target[..<mark]), before: route.placeholder))
    var host = try Self.host(head.authority ?? "", in: region)
    if !route.bucket.isEmpty {
      if try isInHost(route.bucket, host, isSecure: head.scheme == "https") {
        host = "\(route.bucket).\(host)"
      } else {
        text.append("/" as Unicode.Scalar)
        text.append(encoding: route.bucket.utf8)
      }
    }
    text.append("/" as Unicode.Scalar)
    if let key = route.key { text.append(encoding: key.utf8, keepsSlashes: true) }
    append(route.query, Substring(target[mark...].dropFirst()), to: &text)
    (head.authority, head.path) = (host, text.string)
  }

  /// Returns the path of the server's URL, without a slash at its end.
  private func base(of path: Substring, before placeholder: String) -> Substring {
    var path = path.hasSuffix(placeholder) ? path.dropLast(placeholder.utf8.count) : path
    while path.last == "/" { path.removeLast() }
    return path
  }

  private func append(_ query: [S3Route.Parameter], _ common: Substring, to text: inout CanonicalText) {
    var separator = "?" as Unicode.Scalar
    for parameter in query {
      text.append(separator)
      text.append(encoding: parameter.name.utf8)
      text.append("=" as Unicode.Scalar)
      text.append(encoding: parameter.value.utf8)
      separator = "&"
    }
    guard !common.isEmpty else { return }
    text.append(separator)
    text.append(common)
  }

  private func isInHost(_ bucket: String, _ host: String, isSecure: Bool) throws(TransportError) -> Bool {
    switch addressing {
    case .path: return false
    case .virtualHost:
      guard HostPart.isName(bucket) else {
        throw .unusableHost("the name of the bucket cannot be part of a host; use the path")
      }
      return true
    case .automatic:
      // The certificate of AWS covers only one label before the server's name.
      return Self.isAWS(host) && bucket.utf8.count >= 3 && HostPart.isName(bucket)
        && !(isSecure && bucket.utf8.contains(UInt8(ascii: ".")))
    }
  }

  /// Returns the host for a region. At AWS servers, whose hosts contain the region, the region is replaced.
  private static func host(_ authority: String, in region: String) throws(TransportError) -> String {
    guard isAWS(authority) else { return authority }
    var labels = authority.split(separator: ".", omittingEmptySubsequences: false)
    guard let service = labels.firstIndex(where: { $0 == "s3" || $0.hasPrefix("s3-") }) else { return authority }
    var index = service + 1
    if labels.indices.contains(index), labels[index] == "dualstack" { index += 1 }
    guard labels.indices.contains(index) else { return authority }
    guard RegionName.isValid(region) else { throw .unusableHost("the name of the region cannot be part of a host") }
    let region = Substring(region)
    if labels[index] != "amazonaws" {
      labels[index] = region
    } else if labels[service].hasPrefix("s3-"), labels[service] != "s3-accelerate" {
      labels[service] = "s3-\(region)"
    } else if labels[service] == "s3", region != "us-east-1" {
      labels.insert(region, at: index)
    }
    return labels.joined(separator: ".")
  }

  /// Whether an authority is an AWS server.
  static func isAWS(_ authority: String) -> Bool {
    let host = authority.prefix { $0 != ":" }
    return host.hasSuffix(".amazonaws.com") || host.hasSuffix(".amazonaws.com.cn")
  }
}

/// How a request states its bucket.
public enum S3Addressing: Sendable, Hashable {
  /// In the host at AWS servers, if the bucket's name can be part of a host name; otherwise in the path.
  case automatic
  /// In the host: `https://films.s3.eu-central-1.amazonaws.com/ran.mp4`. Calls for a bucket whose name cannot be part
  /// of a host fail with the code `invalidRequest`, without sending a request.
  case virtualHost
  /// In the path: `https://s3.example.com/films/ran.mp4`.
  case path
}

extension TransportError {
  /// Returns the error of a request whose host would be invalid, or different from the intended host.
  static func unusableHost(_ reason: String) -> TransportError {
    TransportError(.invalidRequest, requestState: .notSent, detail: reason)
  }
}
