module github.com/actornode/actornode

go 1.26
