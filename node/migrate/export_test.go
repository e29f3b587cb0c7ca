package migrate

// StartStepping is Start with a function that is called at each step of a move.
var StartStepping = start
