@_exported public import ApusWaiting
