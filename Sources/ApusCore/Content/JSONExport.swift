// JSON values are part of this module's API, so that who imports it, or the umbrella, sees them.
@_exported public import ApusJSON
