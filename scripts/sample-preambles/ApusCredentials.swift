// For the samples in ApusCredentials' documentation.
import ApusCredentials
