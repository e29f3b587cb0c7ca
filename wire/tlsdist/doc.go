// Package tlsdist is the transport of OTP's inet_tls_dist: connections between
// nodes over TLS, in which each side proves by a certificate that it belongs to
// the cluster. A [Transport] made from a [Config] is set as
// node.Distribution.Transport; on it the Erlang protocol has lengths of four bytes
// in its handshake, which erldist does by itself.
//
// All nodes of a cluster use TLS or none does. What EPMD is asked is not
// encrypted; a node can do without it (node.Static).
//
// # Certificates
//
// A node has one certificate, for both roles: if it has extended key usages, they
// are both serverAuth and clientAuth. It is for the host of the node's name
// (subjectAltName), exactly as it stands there: for go@db.example the DNS name
// db.example, for go@db, a short name, the DNS name db. For go@10.0.0.7, named by
// an address, it has that as IP address for Go, and as DNS name for OTP, whose
// nodes (25 at least) look for nothing else; this package takes either.
//
// Who dials checks that the peer's certificate is signed by an authority in
// Config.CA and is for the host of the name that was dialled, which is what OTP
// does with {verify, verify_peer}; it sends that host as server name, unless it is
// an address. Who is dialled demands a certificate, checks its authority, and that
// it is for the host of the name that the peer then gives itself. The last is more
// than OTP does: [Config].AnyHost is OTP's way.
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
// The files are read at each handshake; a change counts from the next one on, and
// connections that there are go on. If what is read cannot be used (the new key
// does not belong to the certificate that is still the old one, a file is gone),
// the last that could is used, and Config.Log is told, once for each change.
//
// # Limits
//
// TLS 1.2 and 1.3. No session is resumed, there are no tickets: each handshake
// proves everything anew. A handshake ends within Config.Timeout. Revocation (CRL,
// OCSP) is not looked at: certificates should live short.
//
// A Go server cannot renegotiate. An OTP node that has dialled over TLS 1.2 and
// has sent 2^28 records (renegotiate_at) loses the connection and makes a new one.
// TLS 1.3 has no such limit.
package tlsdist
