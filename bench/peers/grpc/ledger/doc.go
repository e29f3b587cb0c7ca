// Package ledger has the messages and the client and server of remote_call, made by
// protoc-gen-go and protoc-gen-go-grpc of ledger.proto.
package ledger

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative ledger.proto
