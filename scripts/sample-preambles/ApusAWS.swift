// For samples of ApusAWS.
import ApusAWS

let credentials = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "secret")
