module github.com/actornode/actornode/bench/peers/grpc

go 1.26.0

replace (
	github.com/actornode/actornode => ../../..
	github.com/actornode/actornode/bench => ../..
)

require (
	github.com/actornode/actornode/bench v0.0.0
	github.com/stretchr/testify v1.12.1
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

require (
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
)
