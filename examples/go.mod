module github.com/actornode/actornode/examples

go 1.26.0

replace github.com/actornode/actornode => ..
