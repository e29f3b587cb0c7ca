// Package tlsdist is the transport of OTP's inet_tls_dist: connections between
// nodes over TLS, in which each side proves by a certificate that it belongs to
// the cluster. [New] makes a transport from a [Config]; set it as node.Distribution.Transport. Over TLS the Erlang protocol
// uses four-byte lengths in its handshake, which erldist does automatically.
//
// Either all nodes of a cluster use TLS, or none. Requests to EPMD are not encrypted; a
// node can run without EPMD (discovery.Static).
//
// # Certificates
//
// A node has one certificate for both roles. If it has extended key usages, it needs both
// serverAuth and clientAuth. Its subjectAltName is the host of the node's name, exactly
// as in the name: the DNS name db.example for go@db.example, the DNS name db for the
// short name go@db. For a name with an address, such as go@10.0.0.7, Go needs the address
// as an IP address, and OTP (25 at least) needs it as a DNS name; this package accepts
// either.
//
// The dialling side checks that an authority in Config.CA signed the peer's certificate
// and that the certificate is for the host of the dialled name, as OTP does with
// {verify, verify_peer}. It sends that host as the server name, unless it is an address.
// The accepting side demands a certificate and checks its authority. It also checks that
// the certificate is for the host in the name that the peer then sends. OTP does not
// check this; [Config].AnyHost turns the check off.
//
// The other side in OTP, as -ssl_dist_optfile:
//
//	[{server, [{certfile, "cert.pem"}, {keyfile, "key.pem"}, {cacertfile, "ca.pem"},
//	           {verify, verify_peer}, {fail_if_no_peer_cert, true},
//	           {versions, ['tlsv1.3', 'tlsv1.2']}]},
//	 {client, [{certfile, "cert.pem"}, {keyfile, "key.pem"}, {cacertfile, "ca.pem"},
//	           {verify, verify_peer}, {versions, ['tlsv1.3', 'tlsv1.2']}]}].
//
// Without versions OTP 25 uses TLS 1.2 only.
//
// # Files that change
//
// The files are read at each handshake, so a change applies from the next handshake on.
// Existing connections stay. If the files are invalid (a new key does not match the old
// certificate, or a file is missing), the last valid ones stay in use, and Config.Log
// gets one line for each change. [Transport.Replace] makes a transport use other files.
//
// # Limits
//
// TLS 1.2 and 1.3. Sessions are not resumed and there are no tickets: each handshake
// checks everything again. A handshake takes at most Config.Timeout. Revocation (CRL,
// OCSP) is not checked: use short-lived certificates.
//
// A Go server cannot renegotiate. An OTP node that connected with TLS 1.2 and has sent 2^28 records (renegotiate_at) loses
// the connection and reconnects. TLS 1.3 has no such limit.
package tlsdist
