extension Client {
  /// What this client is made of: its middlewares in their order, the transport and the environment, with all settings
  /// that they tell, and warnings of settings that contradict each other.
  ///
  /// For logs at the start and for a test of the configuration; it is put together anew each time, and costs calls
  /// nothing.
  public func describe() -> ClientDescription {
    let pipeline = prepared.bindsCalls ? state.pipeline.binding : state.pipeline
    var layers = pipeline.entries.map { ClientDescription.Layer(.slot($0.slot), $0.middleware) }
    layers.append(ClientDescription.Layer(.transport, state.transport))
    return ClientDescription(
      layers: layers, environment: environment.description,
      observers: state.observers.map { ClientDescription.Layer(.observer, $0) })
  }
}
