import Apus
import ApusNIO
import ArgumentParser

/// The connection options, shared by all commands that send requests.
struct TransportOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Trust the authorities in this PEM file in addition to the system's; repeatable.", valueName: "file"))
  var ca: [String] = []

  @Option(help: ArgumentHelp("The client certificate, in PEM, for servers that request one.", valueName: "file"))
  var cert: String?

  @Option(help: ArgumentHelp("The private key of --cert, in PEM. Default: the same file.", valueName: "file"))
  var key: String?

  @Option(
    help: ArgumentHelp(
      "Require this public key in the host's certificate chain: Base64 of the SHA-256 of its subject public key info. "
        + "One match for a host is enough; repeatable. Default of HOST: the URL's host.", valueName: "[HOST=]hash"))
  var pin: [String] = []

  @Option(
    help: ArgumentHelp(
      "Use this HTTP proxy; `environment` uses http_proxy, https_proxy, all_proxy and no_proxy. "
        + "Default: no proxy.", valueName: "url"))
  var proxy: String?

  @Flag var protocolChoices: [ConnectionPlan.ProtocolChoice] = []

  @Option(help: "The transport.")
  var transport = ConnectionPlan.Transport.nio

  /// Returns the plan of connections.
  ///
  /// - Throws: ``PlanError``
  func plan() throws(PlanError) -> ConnectionPlan {
    var plan = ConnectionPlan()
    plan.transport = transport
    guard Set(protocolChoices).count <= 1 else {
      throw PlanError("--http1.1, --http2 and --http2-prior-knowledge are mutually exclusive.")
    }
    plan.protocolChoice = protocolChoices.first
    plan.authorities = ca
    if let cert { plan.identity = (cert, key ?? cert) } else if key != nil { throw PlanError("--key needs --cert.") }
    plan.pins = pin.map { Pin($0) }
    plan.proxy = try proxyPlan()
    return plan
  }

  private func proxyPlan() throws(PlanError) -> ConnectionPlan.ProxyPlan {
    guard let proxy else { return .none }
    if proxy == "environment" { return .environment }
    guard let server = NIOTransport.Proxy(url: proxy) else {
      throw PlanError("--proxy takes http://[USER:PASSWORD@]HOST:PORT or environment.")
    }
    return .server(server)
  }
}

extension ConnectionPlan.Transport: ExpressibleByArgument {}

extension ConnectionPlan.ProtocolChoice: EnumerableFlag {
  static func name(for value: Self) -> NameSpecification { .customLong(value.rawValue) }

  static func help(for value: Self) -> ArgumentHelp? {
    switch value {
    case .http1: "Use HTTP/1.1 only."
    case .http2: "Offer HTTP/2 and HTTP/1.1 to https servers, which choose. The default."
    case .priorKnowledge: "Use HTTP/2 only, also with http servers, without asking whether the server speaks it."
    }
  }
}
