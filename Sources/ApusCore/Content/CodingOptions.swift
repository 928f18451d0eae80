/// Coders and styles; `nil` means: what the level above says (call, endpoint, client, in this order).
public struct CodingOptions: Sendable {
  /// JSON.
  public var json: JSONCoding?
  /// Query parameters.
  public var query: QueryStyle?
  /// Forms.
  public var form: QueryStyle?
  /// The format answers are decoded from; JSON when nobody says otherwise.
  public var format: (any ContentFormat)?
  /// The envelope answers come in.
  public var envelope: EnvelopeFormat?

  /// Nothing chosen.
  public init() {}

  /// These options, completed by those of the level above.
  func over(_ base: CodingOptions) -> CodingOptions {
    var options = self
    options.json = json ?? base.json
    options.query = query ?? base.query
    options.form = form ?? base.form
    options.format = format ?? base.format
    options.envelope = envelope ?? base.envelope
    return options
  }

  /// The JSON coding in force.
  public var effectiveJSON: JSONCoding { json ?? .standard }
  /// The query style in force.
  public var effectiveQuery: QueryStyle { query ?? .standard }
  /// The form style in force.
  public var effectiveForm: QueryStyle { form ?? .standard }
  /// The format in force.
  public var effectiveFormat: any ContentFormat { format ?? JSONFormat(effectiveJSON) }
}
