// For the samples in ApusWaiting's documentation.
import ApusTesting

let stub = StubTransport()
